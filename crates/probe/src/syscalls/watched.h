/* Each observed process has a bit here, so that the cost for any other process is a single test. */
#pragma once

#include "subjects.h"
#include "records.h"

#define MARKS (1 << 19)

/* One bit per process that may be observed, selected by the low bits of its PID. */
__u64 marks[MARKS / 64];

static __always_inline _Bool marked(__u32 tgid)
{
	__u32 mark = tgid & (MARKS - 1);

	return marks[mark / 64] & (1ULL << (mark % 64));
}

static __always_inline void overflow(void)
{
	__sync_fetch_and_add(&settings.overflowed, 1);
}

static __noinline __u32 adopt(__u32 tgid, __u32 subject)
{
	__u32 mark = tgid & (MARKS - 1);

	if (bpf_map_update_elem(&processes, &tgid, &subject, BPF_ANY))
		overflow();
	else
		__sync_fetch_and_or(&marks[mark / 64], 1ULL << (mark % 64));
	return 0;
}
