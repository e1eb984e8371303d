//go:build !linux

package demo

import "syscall"

// dieWithParent has nothing to offer here: engines end when their standard
// input does; a server outlives a demo that was killed outright.
func dieWithParent(*syscall.SysProcAttr) {}
