/* Simulates a slow layer in tests by delaying every packet that a device receives. */
#include "kernel.h"

#define TURNS (1 << 23)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} nanoseconds SEC(".maps");

static long is_over(__u32 turn, void *until)
{
	return bpf_ktime_get_ns() >= *(__u64 *)until;
}

SEC("classifier")
int delay(struct __sk_buff *packet)
{
	__u32 only = 0;
	__u64 *wanted = bpf_map_lookup_elem(&nanoseconds, &only), until = bpf_ktime_get_ns();
	if (wanted && *wanted) {
		until += *wanted;
		bpf_loop(TURNS, is_over, &until, 0);
	}
	/* TCX_NEXT: continue as if this program did not exist. */
	return -1;
}
