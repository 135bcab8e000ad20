/* Assigns tasks to buckets. A bucket is a name that several tasks may share. A task gets its bucket when it
 * is created, renamed, or visited by the iterator, so that a switch needs only one lookup. */
#pragma once

#include <stdbool.h>

#include "subjects.h"

/* Must match sums.rs. */
#define BUCKETS 4096
#define IDLE 0
/* Buckets by tag, for tasks without a bucket of their own. */
#define FIRST_UNNAMED 1
#define TAGS 32
/* The bucket for tasks that were never visited. A sandbox may hide a process from the programs. They cannot see
 * when such a process loses the CPU, or what the CPU does next. */
#define UNSEEN (FIRST_UNNAMED + TAGS)
/* The bucket for a CPU that is switching from idle to a task, after the interrupt that woke it and before the
 * switch. The kernel does not count this time as idle, and it can be long in a virtual machine, where
 * programming the timer is slow. */
#define WAKING (UNSEEN + 1)
/* The maximum waking time in nanoseconds. A CPU that polls for longer counts as idle. */
#define WAKING_MOST 200000
/* A flag in a task's bucket: soft interrupts are charged to the task, as for ksoftirqd. */
#define PUT_OFF (1U << 31)

/* From include/linux/sched.h. */
#define PF_KTHREAD 0x00200000

struct name {
	__u32 tag; /* 0 without a subject */
	__u32 kernel; /* whether it is a kernel thread */
	char process[16];
	char thread[16];
};

struct known {
	__u32 bucket;
	__u32 tag;
	__u64 era; /* the start that it belongs to */
};

struct control {
	__u64 era; /* number of starts */
	__u64 buckets; /* number of buckets in use */
	__u64 unnamed; /* tasks for which no bucket was left */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct control);
} control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BUCKETS);
	__type(key, struct name);
	__type(value, __u32);
} buckets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct known);
} tasks SEC(".maps");

static __always_inline struct control *settings(void)
{
	__u32 index = 0;

	return bpf_map_lookup_elem(&control, &index);
}

static __always_inline __u32 bucket_of(struct task_struct *task)
{
	struct known *known;

	if (task->pid == 0)
		return IDLE;
	known = bpf_task_storage_get(&tasks, task, 0, 0);
	return known ? known->bucket : UNSEEN;
}

static __always_inline bool begins(const char *name, const char *with, int length)
{
	for (int i = 0; i < length; i++)
		if (name[i] != with[i])
			return false;
	return true;
}

/* Threads are distinguished only for subjects and for the kernel. */
static __always_inline void fill(struct name *name, struct task_struct *task, const char *comm)
{
	if (task->flags & PF_KTHREAD) {
		name->kernel = 1;
		bpf_probe_read_kernel_str(name->thread, sizeof(name->thread), comm);
		/* Each CPU and pool has its own worker. Merge them. */
		if (begins(name->thread, "kworker/", 8))
			__builtin_memset(name->thread + 7, 0, sizeof(name->thread) - 7);
		return;
	}
	if (task->pid == task->tgid)
		bpf_probe_read_kernel_str(name->process, sizeof(name->process), comm);
	else
		BPF_CORE_READ_STR_INTO(&name->process, task, group_leader, comm);
	bpf_probe_read_kernel_str(name->thread, sizeof(name->thread), comm);
	if (!name->tag)
		__builtin_memset(name->thread, 0, sizeof(name->thread));
}

static __always_inline __u32 unnamed(struct control *control, __u32 tag)
{
	__sync_fetch_and_add(&control->unnamed, 1);
	return FIRST_UNNAMED + (tag & (TAGS - 1));
}

static __always_inline __u32 bucket_named(struct control *control, struct name *name)
{
	__u32 *found = bpf_map_lookup_elem(&buckets, name);
	__u32 bucket;

	if (found)
		return *found;
	if (control->buckets >= BUCKETS)
		return unnamed(control, name->tag);
	bucket = __sync_fetch_and_add(&control->buckets, 1);
	if (bucket < BUCKETS && !bpf_map_update_elem(&buckets, name, &bucket, BPF_NOEXIST))
		return bucket;
	/* Another CPU added the same name at the same time. */
	found = bpf_map_lookup_elem(&buckets, name);
	return found ? *found : unnamed(control, name->tag);
}

static __always_inline __u32 place(struct task_struct *task, const char *comm, __u32 inherited)
{
	struct control *control = settings();
	struct known *known = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct name name = {};
	__u32 bucket;

	if (!control || !known)
		return FIRST_UNNAMED;
	name.tag = inherited || task->flags & PF_KTHREAD ? inherited : subject_by_place(task);
	fill(&name, task, comm);
	bucket = bucket_named(control, &name);
	if (name.kernel && begins(name.thread, "ksoftirqd/", 10))
		bucket |= PUT_OFF;
	known->tag = name.tag;
	known->bucket = bucket;
	known->era = control->era;
	return bucket;
}

/* Returns the tag that a task's children inherit. */
static __always_inline __u32 tag_now(struct task_struct *task)
{
	struct known *known = bpf_task_storage_get(&tasks, task, 0, 0);
	struct control *control = settings();

	if (!control)
		return 0;
	return known && known->era == control->era ? known->tag : subject_by_number(task->tgid);
}
