package demo_test

import "runtime"

const onLinux = runtime.GOOS == "linux"
