/* What the program writes and user space reads, and the maps that hold it. */
#pragma once

#include "kernel.h"

#define HEADS 64
#define TIMES 40

/* One kind of call by one thread. Its layout is read in slot.rs. */
struct slot {
	__u64 calls;
	__u64 errors;
	__u64 total;
	__u64 waiting;
	__u64 guest;
	/* The sum of what calls returned that did not fail. */
	__u64 returned;
	/* When the last of them ended. */
	__u64 seen;
	__u32 tid;
	__u32 tgid;
	__u32 nr;
	__u32 subject;
	/* The thread's first slot tells threads apart that had the same number one after the other. */
	__u32 thread;
	/* The next slot of the thread with the same head, plus one. */
	__u32 next;
	__u64 comm[2];
	__u64 process[2];
	/* The start that it belongs to; written last. */
	__u32 epoch;
	__u32 unused;
	__u32 times[TIMES];
};

/* A call that has not ended, as it is told when user space reads. Its layout is read in under_way.rs. */
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

/* What a watched thread is doing. */
struct thread {
	__u32 epoch;
	__u32 subject;
	/* The number of the call under way, plus one; 0 when there is none that is counted. */
	__u32 call;
	/* The thread's first slot plus one. */
	__u32 first;
	/* When the call began, how long it waited, since when it waits; the same of its guest. */
	__u64 since;
	__u64 waited;
	__u64 off_since;
	__u64 guest;
	__u64 guest_since;
	/* Slots by number of call, plus one; those with equal low bits are chained. */
	__u32 heads[HEADS];
};

/* Written by user space while nothing is attached, but for the counters. Read in settings.rs. */
struct settings {
	/* Another one for each start: storage of an earlier start counts for nothing. */
	__u32 epoch;
	__u32 slots;
	/* Slots that were taken. */
	__u64 taken;
	/* Calls that found no room. */
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
