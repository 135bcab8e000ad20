/* What the programs read of the kernel: the few fields that they need, relocated to the running kernel by its BTF.
 * Names and types are the kernel's (include/linux/sched.h, skbuff.h, netdevice.h); offsets here mean nothing. */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct {
	int pid;
	int tgid;
	char comm[16];
	struct task_struct *real_parent;
};

struct pt_regs;

#pragma clang attribute pop

char LICENSE[] SEC("license") = "GPL";
