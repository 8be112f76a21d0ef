package runc

// A program may enter the kernel by the doors of its older relatives too.
var seccompArchitectures = []string{"SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"}
