/* The data that the program writes and user space reads, and the maps that hold it. */
#pragma once

#include "kernel.h"

#define HEADS 64
#define TIMES 40

/* One thread's calls with the same number. Read in slot.rs. */
struct slot {
	__u64 calls;
	__u64 errors;
	__u64 total;
	__u64 waiting;
	__u64 guest;
	/* The sum of the return values of successful calls. */
	__u64 returned;
	/* End of the latest call. */
	__u64 seen;
	__u32 tid;
	__u32 tgid;
	__u32 nr;
	__u32 subject;
	/* The thread's first slot. It distinguishes threads that had the same id. */
	__u32 thread;
	/* The thread's next slot with the same head, plus one. */
	__u32 next;
	__u64 comm[2];
	__u64 process[2];
	/* The epoch of the start that the slot belongs to. This is written last. */
	__u32 epoch;
	__u32 unused;
	__u32 times[TIMES];
};

/* A call that is in progress when user space reads. Read in under_way.rs. */
struct under_way {
	__u64 took;
	__u64 waiting;
	__u64 guest;
	__u64 now;
	__u32 tid;
	__u32 tgid;
	__u32 nr;
	__u32 subject;
	__u32 thread;
	__u32 unused;
	__u64 comm[2];
	__u64 process[2];
};

struct thread {
	__u32 epoch;
	__u32 subject;
	/* Number of the current call, plus one; 0 if no counted call is in progress. */
	__u32 call;
	/* The thread's first slot plus one. */
	__u32 first;
	/* When the call started, how long it waited, and when the current wait started, followed by the same values
	 * for its guest. */
	__u64 since;
	__u64 waited;
	__u64 off_since;
	__u64 guest;
	__u64 guest_since;
	/* Slots by call number, plus one. Slots with the same low bits form a chain. */
	__u32 heads[HEADS];
};

/* Written by user space while no program is attached, except for the counters. Read in settings.rs. */
struct settings {
	/* Changes at each start, so that the storage of earlier starts is ignored. */
	__u32 epoch;
	__u32 slots;
	/* Number of slots in use. */
	__u64 taken;
	/* Number of calls without a slot. */
	__u64 overflowed;
};

struct settings settings SEC(".data.settings");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct slot);
} slots SEC(".maps");
