/* What no kernel takes: it reads where it must not. Only for the tests of what is then told. */
#include "kernel.h"

SEC("tp_btf/sys_enter")
int wrong(__u64 *context)
{
	return *(volatile int *)context[17];
}
