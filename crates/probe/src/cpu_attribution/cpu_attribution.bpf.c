/* Adds up how each CPU spends its time: on tasks by bucket, on soft interrupts, and on hardware interrupts.
 * The program sends no events; user space reads the sums. */
#include "tasks.h"

/* The state of one CPU. `begun` and `ended` differ during an update. Readers copy the fields in ascending
 * order. */
struct cpu {
	__u64 ended;
	__u64 since; /* end of the time accounted so far; 0 before the start */
	__u32 bucket; /* bucket of the current task */
	__u16 softirq; /* whether a soft interrupt is running */
	__u16 irq; /* nesting depth of hardware interrupts */
	__u32 task; /* the current task, if known */
	__u16 waking; /* whether the CPU has left idle but is not yet running a task */
	__u16 changing;
	__u64 stolen; /* time stolen by the hypervisor since boot */
	__u64 taken; /* part of `stolen` subtracted from tasks since the start */
	__u64 in_softirq;
	__u64 in_irq;
	__u64 time[BUCKETS];
	__u64 begun;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu);
} cpus SEC(".maps");

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

/* Returns the time that the hypervisor has stolen since boot, as accounted by the scheduler for this task's
 * CPU. */
static __always_inline __u64 stolen_until_now(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->se.cfs_rq->rq->prev_steal_time_rq))
		return 0;
	return task->se.cfs_rq->rq->prev_steal_time_rq;
}

/* Adds the elapsed time to the current interrupt or task. */
static __always_inline void settle(struct cpu *cpu, __u64 now)
{
	__u64 passed = now - cpu->since;

	if (cpu->irq)
		cpu->in_irq += passed;
	else if (cpu->softirq && !(cpu->bucket & PUT_OFF))
		cpu->in_softirq += passed;
	else if (cpu->bucket == IDLE && cpu->waking && passed < WAKING_MOST)
		cpu->time[WAKING] += passed;
	else
		cpu->time[cpu->bucket & (BUCKETS - 1)] += passed;
	cpu->since = now;
}

/* Subtracts steal time from the current task, even if some of it was already added. On a CPU without a task,
 * steal time counts as idle time, because the woken CPU was waiting for the hypervisor. */
static __always_inline void take_stolen(struct cpu *cpu, __u64 stolen)
{
	__u64 *time = &cpu->time[cpu->bucket & (BUCKETS - 1)];
	__u64 taken = stolen - cpu->stolen;

	cpu->stolen = stolen;
	if (!taken || cpu->bucket == IDLE || *time < taken)
		return;
	*time -= taken;
	cpu->taken += taken;
}

/* Corrects a wrong assumption about the current task. At a switch, the previous task is known for certain. */
static __always_inline void correct(struct cpu *cpu, struct task_struct *task)
{
	if (cpu->task == (__u32)task->pid)
		return;
	cpu->bucket = bucket_of(task);
	cpu->task = task->pid;
}

/* Returns false before the start of the measurement, and if this code interrupted another update. */
static __always_inline int is_open(struct cpu *cpu)
{
	return cpu->since && !cpu->changing;
}

/* Begins an update. An interrupt before the first line completes its own update before that line runs. After
 * the line, interrupts change nothing. */
static __always_inline void shut(struct cpu *cpu)
{
	*(volatile __u16 *)&cpu->changing = 1;
	barrier();
	cpu->begun++;
	barrier();
}

static __always_inline void end(struct cpu *cpu)
{
	barrier();
	cpu->ended++;
	barrier();
	*(volatile __u16 *)&cpu->changing = 0;
}

static __always_inline void begin(struct cpu *cpu)
{
	shut(cpu);
	if (cpu->bucket == UNSEEN)
		correct(cpu, bpf_get_current_task_btf());
	settle(cpu, bpf_ktime_get_ns());
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cpu *cpu = this_cpu();

	if (!cpu || !is_open(cpu))
		return 0;
	shut(cpu);
	correct(cpu, prev);
	/* The task is not hidden, since its switch is visible, but there was no memory for its storage. */
	if (cpu->bucket == UNSEEN)
		cpu->bucket = FIRST_UNNAMED;
	settle(cpu, bpf_ktime_get_ns());
	cpu->waking = 0;
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
	cpu->waking = 0;
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
	cpu->waking = 1;
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
	/* The CPU may have become idle again. */
	cpu->waking = 0;
	begin(cpu);
	cpu->irq++;
	end(cpu);
	return 0;
}

static __always_inline int irq_left(void)
{
	struct cpu *cpu = this_cpu();

	/* This interrupt began before the start of the measurement. */
	if (!cpu || !cpu->irq)
		return 0;
	if (!is_open(cpu)) {
		cpu->irq--;
		return 0;
	}
	begin(cpu);
	cpu->waking = 1;
	cpu->irq--;
	end(cpu);
	return 0;
}

/* Handles device, timer and inter-processor interrupts. */
#define INTERRUPT(name)                                                                  \
	SEC("tp_btf/" #name "_entry") int BPF_PROG(name##_begins) { return irq_entered(); } \
	SEC("tp_btf/" #name "_exit") int BPF_PROG(name##_ends) { return irq_left(); }

INTERRUPT(irq_handler)
INTERRUPT(local_timer)
INTERRUPT(reschedule)
INTERRUPT(call_function)
INTERRUPT(call_function_single)
INTERRUPT(irq_work)

/* An idle CPU that gets work restarts its tick. If the CPU was not asleep yet, this happens without an
 * interrupt. */
SEC("tp_btf/tmigr_cpu_active")
int BPF_PROG(on_active)
{
	struct cpu *cpu = this_cpu();

	if (!cpu || !is_open(cpu) || cpu->bucket != IDLE || cpu->irq || cpu->softirq)
		return 0;
	begin(cpu);
	cpu->waking = 1;
	end(cpu);
	return 0;
}

/* User space runs this on each CPU, to start with the current task. */
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

/* Also called for threads that the kernel creates in a process, e.g. for io_uring and vhost. */
SEC("tp_btf/task_newtask")
int BPF_PROG(on_new_task, struct task_struct *task)
{
	place(task, task->comm, tag_now(bpf_get_current_task_btf()));
	return 0;
}

/* Also called on exec. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task, const char *comm)
{
	__u32 bucket = place(task, comm, tag_now(task));
	struct cpu *cpu;

	if (task != bpf_get_current_task_btf())
		return 0;
	cpu = this_cpu();
	/* The task is the current one on this CPU. If it is preempted here, it is current again when the assignment
	 * below runs. */
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
		place(task, task->comm, subject_by_number(task->tgid));
	return 0;
}
