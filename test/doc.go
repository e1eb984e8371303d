// Package e2e proves Laketap from outside: the programs as they are built,
// real engines as their makers ship them, a real lake. It imports nothing of
// the product. Its tests never skip: what they need and miss is a failure that
// says how to get it.
package e2e
