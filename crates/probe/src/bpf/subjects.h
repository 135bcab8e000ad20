/* Maps tasks to subjects by process, network namespace or control group. User space fills the maps
 * (subjects.rs). Subject numbers start at 1. Forks and exits are left to the BPF programs. */
#pragma once

#include "kernel.h"

/* The maximum number of control group levels to search. */
#define MOST_LEVELS 16

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, __u32);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} namespaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, __u32);
} cgroups SEC(".maps");

/* Whether any subject is defined by a network namespace or control group. */
struct places {
	__u32 by_namespace;
	__u32 by_cgroup;
};

struct places places SEC(".data.places");

/* Returns the subject of a process by PID, or 0 if there is none. */
static __always_inline __u32 subject_by_number(__u32 tgid)
{
	__u32 *subject = bpf_map_lookup_elem(&processes, &tgid);

	return subject ? *subject : 0;
}

static __always_inline __u32 subject_by_namespace(struct task_struct *task)
{
	__u32 inode = BPF_CORE_READ(task, nsproxy, net_ns, ns.inum);
	__u32 *subject = bpf_map_lookup_elem(&namespaces, &inode);

	return subject ? *subject : 0;
}

static __always_inline __u32 subject_by_cgroup(struct task_struct *task)
{
	struct cgroup *group = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	__u32 *subject;
	__u64 id;

	for (int level = 0; level < MOST_LEVELS && group; level++) {
		id = BPF_CORE_READ(group, kn, id);
		subject = bpf_map_lookup_elem(&cgroups, &id);
		if (subject)
			return *subject;
		group = BPF_CORE_READ(group, self.parent, cgroup);
	}
	return 0;
}

/* Returns the subject of a task by namespace or control group, or 0 if there is none. */
static __always_inline __u32 subject_by_place(struct task_struct *task)
{
	__u32 subject = places.by_namespace ? subject_by_namespace(task) : 0;

	return !subject && places.by_cgroup ? subject_by_cgroup(task) : subject;
}
