/* An invalid memory access, which every kernel rejects. It is used only to test the error message. */
#include "kernel.h"

SEC("tp_btf/sys_enter")
int wrong(__u64 *context)
{
	return *(volatile int *)context[17];
}
