package demo

import "syscall"

// dieWithParent lets the kernel end a child whose demo was killed. The lake
// that the server started goes the same way, one step later.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
