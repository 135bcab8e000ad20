/* Does nothing when a system call starts or ends. This is the minimum overhead of any system call probe. */
#include "kernel.h"

SEC("raw_tp/sys_enter")
int entered(void *context)
{
	return 0;
}

SEC("raw_tp/sys_exit")
int left(void *context)
{
	return 0;
}
