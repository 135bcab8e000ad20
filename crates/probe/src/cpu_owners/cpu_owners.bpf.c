/* Adds up the time of each CPU by whoever had it: a task by its bucket, soft interrupts, hardware interrupts. A bucket
 * is a name that several tasks may share; a task is given its bucket when it is made, renamed, or met by the iterator,
 * so that a switch costs one lookup. Nothing is sent; user space reads the sums. */
#include <stdbool.h>

#include "kernel.h"

/* Buckets in all; user space knows the same number. */
#define BUCKETS 4096
/* Nobody had the CPU. */
#define IDLE 0
/* The buckets of tasks that have none of their own, by tag. */
#define FIRST_UNNAMED 1
#define TAGS 32
/* Of tasks that were never met. A sandbox may hide a process from programs, so that it is not met and what happens in
 * its time is not seen: neither that it loses the CPU, nor that another task or nobody has it from then on. */
#define UNSEEN (FIRST_UNNAMED + TAGS)
/* A CPU that was idle and finds its way to a task: after the interrupt that woke it, before the switch. The kernel does
 * not count it as idle, and programming the tick's timer takes long in a virtual machine. */
#define WAKING (UNSEEN + 1)
/* It does not take longer; an idle CPU that polls is idle. */
#define WAKING_MOST 200000
/* In a task's bucket: soft interrupts in its time are its own, as in ksoftirqd's. */
#define PUT_OFF (1U << 31)
/* Control groups are looked for so far up. */
#define GROUPS_DEEP 16

/* PWR_EVENT_EXIT of include/trace/events/power.h */
#define IDLE_ENDS (~0U)
/* include/linux/sched.h */
#define PF_KTHREAD 0x00200000

/* Whose work a bucket holds. */
struct name {
	__u32 tag; /* 0: no subject's */
	__u32 kernel; /* a thread of the kernel */
	char process[16];
	char thread[16];
};

/* What is known of a task. */
struct known {
	__u32 bucket;
	__u32 tag;
	__u64 era; /* of which start */
};

/* One CPU. `begun` and `ended` differ while the rest is being changed; a reader copies upwards. */
struct cpu {
	__u64 ended;
	__u64 since; /* the time up to which everything is in the sums; 0 before the start */
	__u32 bucket; /* of the task that has the CPU */
	__u16 softirq; /* in a soft interrupt */
	__u16 irq; /* in so many hardware interrupts */
	__u32 task; /* that has the CPU, as far as one has seen */
	__u32 interrupted; /* the last that happened was the end of an interrupt */
	__u64 stolen; /* by the hypervisor, up to here, since the boot */
	__u64 in_softirq;
	__u64 in_irq;
	__u64 time[BUCKETS];
	__u64 begun;
};

struct control {
	__u64 era; /* counts the starts */
	__u64 buckets; /* that are taken */
	__u64 unnamed; /* tasks that found none left */
	__u64 by_namespace; /* whether tasks are looked up by namespace */
	__u64 by_group;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu);
} cpus SEC(".maps");

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

/* Tags of processes, of network namespaces and of control groups. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
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
} groups SEC(".maps");

struct bpf_iter_meta;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

#define barrier() asm volatile("" ::: "memory")

static __always_inline struct cpu *this_cpu(void)
{
	__u32 index = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &index);
}

static __always_inline struct control *settings(void)
{
	__u32 index = 0;

	return bpf_map_lookup_elem(&control, &index);
}

/* What the hypervisor has taken from this task's CPU since the boot, as the scheduler takes it out of its time. */
static __always_inline __u64 stolen_until_now(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->se.cfs_rq->rq->prev_steal_time_rq))
		return 0;
	return task->se.cfs_rq->rq->prev_steal_time_rq;
}

/* Gives the time that has passed to whoever had it. */
static __always_inline void settle(struct cpu *cpu, __u64 now)
{
	__u64 passed = now - cpu->since;

	if (cpu->irq)
		cpu->in_irq += passed;
	else if (cpu->softirq && !(cpu->bucket & PUT_OFF))
		cpu->in_softirq += passed;
	else
		cpu->time[cpu->bucket & (BUCKETS - 1)] += passed;
	cpu->since = now;
}

/* What was stolen while a task had the CPU is not its time, of which some may be settled already. */
static __always_inline void take_stolen(struct cpu *cpu, __u64 stolen)
{
	__u64 *time = &cpu->time[cpu->bucket & (BUCKETS - 1)];
	__u64 taken = stolen - cpu->stolen;

	if (taken && *time >= taken)
		*time -= taken;
	cpu->stolen = stolen;
}

static __always_inline __u32 bucket_of(struct task_struct *task)
{
	struct known *known;

	if (task->pid == 0)
		return IDLE;
	known = bpf_task_storage_get(&tasks, task, 0, 0);
	return known ? known->bucket : UNSEEN;
}

/* Who has had the CPU until now is known for certain in its own time. */
static __always_inline void correct(struct cpu *cpu, struct task_struct *task)
{
	if (cpu->task != (__u32)task->pid)
		cpu->bucket = bucket_of(task);
	/* Not hidden: there was no memory to know it by. */
	if (cpu->bucket == UNSEEN)
		cpu->bucket = FIRST_UNNAMED;
	cpu->task = task->pid;
}

static __always_inline void begin(struct cpu *cpu)
{
	cpu->begun++;
	barrier();
	if (cpu->bucket == UNSEEN)
		correct(cpu, bpf_get_current_task_btf());
	settle(cpu, bpf_ktime_get_ns());
}

static __always_inline void end(struct cpu *cpu)
{
	barrier();
	cpu->ended++;
}

/* Not before the start; nor in the few instructions of another program that an interrupt came between. */
static __always_inline int is_open(struct cpu *cpu)
{
	return cpu->since && cpu->begun == cpu->ended;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cpu *cpu = this_cpu();
	__u64 now;

	if (!cpu || !is_open(cpu))
		return 0;
	cpu->begun++;
	barrier();
	correct(cpu, prev);
	now = bpf_ktime_get_ns();
	if (cpu->bucket == IDLE && cpu->interrupted && now - cpu->since < WAKING_MOST)
		cpu->bucket = WAKING;
	settle(cpu, now);
	cpu->interrupted = 0;
	take_stolen(cpu, stolen_until_now(next));
	cpu->bucket = bucket_of(next);
	cpu->task = next->pid;
	end(cpu);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry)
{
	struct cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	if (!is_open(cpu)) {
		cpu->softirq = 1;
		return 0;
	}
	begin(cpu);
	cpu->interrupted = 0;
	cpu->softirq = 1;
	end(cpu);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit)
{
	struct cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	if (!is_open(cpu)) {
		cpu->softirq = 0;
		return 0;
	}
	begin(cpu);
	cpu->interrupted = 1;
	cpu->softirq = 0;
	end(cpu);
	return 0;
}

static __always_inline int irq_entered(void)
{
	struct cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	if (!is_open(cpu)) {
		cpu->irq++;
		return 0;
	}
	begin(cpu);
	cpu->interrupted = 0;
	cpu->irq++;
	end(cpu);
	return 0;
}

static __always_inline int irq_left(void)
{
	struct cpu *cpu = this_cpu();

	/* One that was entered before anybody looked. */
	if (!cpu || !cpu->irq)
		return 0;
	if (!is_open(cpu)) {
		cpu->irq--;
		return 0;
	}
	begin(cpu);
	cpu->interrupted = 1;
	cpu->irq--;
	end(cpu);
	return 0;
}

/* Interrupts of devices, of the tick, and between CPUs. */
#define INTERRUPT(name)                                                                  \
	SEC("tp_btf/" #name "_entry") int BPF_PROG(name##_begins) { return irq_entered(); } \
	SEC("tp_btf/" #name "_exit") int BPF_PROG(name##_ends) { return irq_left(); }

INTERRUPT(irq_handler)
INTERRUPT(local_timer)
INTERRUPT(reschedule)
INTERRUPT(call_function)
INTERRUPT(call_function_single)
INTERRUPT(irq_work)

/* Left without an interrupt when a task was put on a CPU that was about to sleep. */
SEC("tp_btf/cpu_idle")
int BPF_PROG(on_idle, unsigned int state)
{
	struct cpu *cpu = this_cpu();

	if (!cpu || !is_open(cpu))
		return 0;
	if (state != IDLE_ENDS) {
		cpu->interrupted = 0;
		return 0;
	}
	if (cpu->interrupted)
		return 0;
	begin(cpu);
	cpu->interrupted = 1;
	end(cpu);
	return 0;
}

/* Run by user space on each CPU: begins to count with the task that has it. */
SEC("raw_tp/start")
int start(void *ctx)
{
	struct cpu *cpu = this_cpu();
	struct task_struct *task = bpf_get_current_task_btf();

	if (!cpu || !task || cpu->since)
		return 0;
	cpu->bucket = bucket_of(task);
	cpu->task = task->pid;
	cpu->stolen = stolen_until_now(task);
	cpu->since = bpf_ktime_get_ns();
	return 0;
}

static __always_inline __u32 tag_of_namespace(struct task_struct *task)
{
	__u32 inode = BPF_CORE_READ(task, nsproxy, net_ns, ns.inum);
	__u32 *tag = bpf_map_lookup_elem(&namespaces, &inode);

	return tag ? *tag : 0;
}

static __always_inline __u32 tag_of_group(struct task_struct *task)
{
	struct cgroup *group = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	__u32 *tag;
	__u64 id;

	for (int depth = 0; depth < GROUPS_DEEP && group; depth++) {
		id = BPF_CORE_READ(group, kn, id);
		tag = bpf_map_lookup_elem(&groups, &id);
		if (tag)
			return *tag;
		group = BPF_CORE_READ(group, self.parent, cgroup);
	}
	return 0;
}

/* Whose a process is that the user named. */
static __always_inline __u32 tag_of_process(struct task_struct *task)
{
	__u32 process = task->tgid;
	__u32 *tag = bpf_map_lookup_elem(&processes, &process);

	return tag ? *tag : 0;
}

/* Whose a task is by where it lives. */
static __always_inline __u32 tag_of_place(struct task_struct *task, struct control *control)
{
	__u32 found = 0;

	if (task->flags & PF_KTHREAD)
		return 0;
	if (control->by_namespace)
		found = tag_of_namespace(task);
	if (!found && control->by_group)
		found = tag_of_group(task);
	return found;
}

static __always_inline bool begins(const char *name, const char *with, int length)
{
	for (int i = 0; i < length; i++)
		if (name[i] != with[i])
			return false;
	return true;
}

/* Threads are told apart where they are a subject's, the kernel's, or work for a virtual machine. */
static __always_inline void fill(struct name *name, struct task_struct *task, const char *comm)
{
	if (task->flags & PF_KTHREAD) {
		name->kernel = 1;
		bpf_probe_read_kernel_str(name->thread, sizeof(name->thread), comm);
		/* One for each CPU and pool, and which of them had the work says nothing. */
		if (begins(name->thread, "kworker/", 8))
			__builtin_memset(name->thread + 7, 0, sizeof(name->thread) - 7);
		return;
	}
	if (task->pid == task->tgid)
		bpf_probe_read_kernel_str(name->process, sizeof(name->process), comm);
	else
		BPF_CORE_READ_STR_INTO(&name->process, task, group_leader, comm);
	bpf_probe_read_kernel_str(name->thread, sizeof(name->thread), comm);
	if (!name->tag && !begins(name->thread, "vhost-", 6))
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
	/* Another CPU met the same name at the same moment. */
	found = bpf_map_lookup_elem(&buckets, name);
	return found ? *found : unnamed(control, name->tag);
}

/* Gives a task its bucket. */
static __always_inline __u32 place(struct task_struct *task, const char *comm, __u32 inherited)
{
	struct control *control = settings();
	struct known *known = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct name name = {};
	__u32 bucket;

	if (!control || !known)
		return FIRST_UNNAMED;
	name.tag = inherited ? inherited : tag_of_place(task, control);
	fill(&name, task, comm);
	bucket = bucket_named(control, &name);
	if (name.kernel && begins(name.thread, "ksoftirqd/", 10))
		bucket |= PUT_OFF;
	known->tag = name.tag;
	known->bucket = bucket;
	known->era = control->era;
	return bucket;
}

/* What a task's children inherit. */
static __always_inline __u32 tag_now(struct task_struct *task)
{
	struct known *known = bpf_task_storage_get(&tasks, task, 0, 0);
	struct control *control = settings();

	if (!control)
		return 0;
	return known && known->era == control->era ? known->tag : tag_of_process(task);
}

/* Also threads that the kernel makes in a process: those of io_uring and of vhost. */
SEC("tp_btf/task_newtask")
int BPF_PROG(on_new_task, struct task_struct *task)
{
	place(task, task->comm, tag_now(bpf_get_current_task_btf()));
	return 0;
}

/* Also a new program in a process. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task, const char *comm)
{
	__u32 bucket = place(task, comm, tag_now(task));
	struct cpu *cpu;

	if (task != bpf_get_current_task_btf())
		return 0;
	cpu = this_cpu();
	/* It has this CPU, and if it loses it meanwhile it comes back to it before the next line is over. */
	if (cpu && cpu->since)
		*(volatile __u32 *)&cpu->bucket = bucket;
	return 0;
}

SEC("iter/task")
int each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct control *control = settings();
	struct known *known;

	if (!task || !control)
		return 0;
	known = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!known || known->era != control->era)
		place(task, task->comm, tag_of_process(task));
	return 0;
}
