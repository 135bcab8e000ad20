/* The kernel structures and fields that the programs read. BTF relocates them for the running kernel, so the
 * offsets here are irrelevant. Names and types are the kernel's (include/linux/sched.h, skbuff.h,
 * netdevice.h). */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	__u64 id;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

struct nsproxy {
	struct net *net_ns;
};

struct atomic {
	int counter;
};

struct signal_struct {
	struct atomic live;
};

struct rq {
	__u64 prev_steal_time_rq;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
};

struct task_struct {
	struct sched_entity se;
	unsigned int flags;
	int pid;
	int tgid;
	char comm[16];
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct nsproxy *nsproxy;
	struct css_set *cgroups;
	struct signal_struct *signal;
};

struct pt_regs;

#pragma clang attribute pop

char LICENSE[] SEC("license") = "GPL";
