// Command laketap runs the taps and tells people what they saw. It owns the
// command line, the configuration and the wiring; it refuses logic of its own.
package main

func main() {}
