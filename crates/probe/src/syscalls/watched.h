/* Which processes are watched: by their number, which children inherit, or by where they live. */
#pragma once

#include "kernel.h"
#include "records.h"

#define MARKS (1 << 19)
#define MOST_LEVELS 16

/* One bit for the processes that may be watched, by the low bits of their number. */
__u64 marks[MARKS / 64];

/* Processes that are watched, and whose they are. */
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

/* Whose a process is by where it lives; 0 when it is not watched. */
static __always_inline __u32 subject_by_place(struct task_struct *task)
{
	__u32 *found = NULL;

	if (settings.by_namespace) {
		struct nsproxy *proxy = task->nsproxy;
		__u32 inode = proxy ? proxy->net_ns->ns.inum : 0;

		found = bpf_map_lookup_elem(&namespaces, &inode);
	}
	if (!found && settings.by_cgroup) {
		for (int level = 0; level < MOST_LEVELS && !found; level++) {
			__u64 id = bpf_get_current_ancestor_cgroup_id(level);

			if (!id)
				break;
			found = bpf_map_lookup_elem(&cgroups, &id);
		}
	}
	return found ? *found : 0;
}
