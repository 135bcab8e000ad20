/* Every kernel rejects this invalid memory access. Only the test of the error message uses it. */
#include "kernel.h"

SEC("tp_btf/sys_enter")
int wrong(__u64 *context)
{
	return *(volatile int *)context[17];
}
