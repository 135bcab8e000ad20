/* Counts system calls by thread and number. The program sends no events; user space reads the slots. A thread's
 * storage refers to its slots, which only the thread itself writes, on any CPU. So neither locks nor per-CPU
 * copies are needed. For tasks that are not observed, the only cost is testing a bit in `marks`. */
#include "kernel.h"
#include "records.h"
#include "watched.h"

#define LONGEST_CHAIN 16

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

/* Returns the storage of a thread in an observed process, and creates it on first use. Returns NULL for other
 * threads. */
static __always_inline struct thread *thread_of(struct task_struct *task)
{
	struct thread *thread;
	__u32 tgid = task->tgid;
	__u32 *subject;

	thread = bpf_task_storage_get(&threads, task, NULL, 0);
	if (thread && thread->epoch == settings.epoch)
		return thread;
	subject = bpf_map_lookup_elem(&processes, &tgid);
	if (!subject)
		return NULL;
	thread = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		overflow();
		return NULL;
	}
	__builtin_memset(thread, 0, sizeof(*thread));
	thread->epoch = settings.epoch;
	thread->subject = *subject;
	return thread;
}

static __always_inline void copy_comm(__u64 *into, const char *comm)
{
	into[0] = *(const __u64 *)comm;
	into[1] = *(const __u64 *)(comm + 8);
}

/* Takes a new slot for a thread and call number. Returns NULL if none is left. */
static __noinline struct slot *take_slot(struct task_struct *task, struct thread *thread, __u32 nr)
{
	__u32 index = settings.slots;
	struct slot *slot;

	if (settings.taken < settings.slots)
		index = __sync_fetch_and_add(&settings.taken, 1);
	slot = index < settings.slots ? bpf_map_lookup_elem(&slots, &index) : NULL;
	if (!slot) {
		overflow();
		return NULL;
	}
	__builtin_memset(slot, 0, sizeof(*slot));
	if (!thread->first)
		thread->first = index + 1;
	slot->tid = task->pid;
	slot->tgid = task->tgid;
	slot->nr = nr;
	slot->subject = thread->subject;
	slot->thread = thread->first;
	slot->next = thread->heads[nr % HEADS];
	copy_comm(slot->comm, task->comm);
	copy_comm(slot->process, task->group_leader->comm);
	thread->heads[nr % HEADS] = index + 1;
	*(volatile __u32 *)&slot->epoch = settings.epoch;
	return slot;
}

/* Returns the slot for a thread and call number, or NULL if there is no room. */
static __always_inline struct slot *slot_of(struct task_struct *task, struct thread *thread, __u32 nr)
{
	__u32 next = thread->heads[nr % HEADS];

	for (int i = 0; i < LONGEST_CHAIN && next; i++) {
		__u32 index = next - 1;
		struct slot *slot = bpf_map_lookup_elem(&slots, &index);

		if (!slot)
			break;
		if (slot->nr == nr)
			return slot;
		next = slot->next;
	}
	return take_slot(task, thread, nr);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enter, struct pt_regs *regs, long nr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = NULL;

	if (marked(task->tgid))
		thread = thread_of(task);
	/* The mark may belong to a process that has exited, or to one with the same low PID bits. */
	if (!thread && (places.by_namespace || places.by_cgroup)) {
		__u32 tgid = task->tgid, subject;

		if (subject_by_number(tgid))
			return 0;
		subject = subject_by_place(task);
		if (!subject)
			return 0;
		adopt(tgid, subject);
		thread = thread_of(task);
	}
	if (!thread)
		return 0;
	thread->call = (__u32)nr + 1;
	thread->since = bpf_ktime_get_ns();
	return 0;
}

static __always_inline __u32 log2_of(__u64 value)
{
	__u32 place = 0;

	if (value >> 32) {
		value >>= 32;
		place += 32;
	}
	if (value >> 16) {
		value >>= 16;
		place += 16;
	}
	if (value >> 8) {
		value >>= 8;
		place += 8;
	}
	if (value >> 4) {
		value >>= 4;
		place += 4;
	}
	if (value >> 2) {
		value >>= 2;
		place += 2;
	}
	return place + (value >> 1 ? 1 : 0);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave, struct pt_regs *regs, long returned)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread;
	struct slot *slot;
	__u64 now, took, waited, guest;
	__u32 call, place;

	if (!marked(task->tgid))
		return 0;
	thread = bpf_task_storage_get(&threads, task, NULL, 0);
	if (!thread || !thread->call || thread->epoch != settings.epoch)
		return 0;
	now = bpf_ktime_get_ns();
	call = thread->call;
	waited = thread->waited;
	guest = thread->guest;
	thread->call = 0;
	thread->waited = 0;
	thread->guest = 0;
	slot = slot_of(task, thread, call - 1);
	if (!slot)
		return 0;
	took = now - thread->since;
	slot->calls += 1;
	slot->total += took;
	slot->waiting += waited;
	slot->guest += guest;
	if (returned < 0 && returned >= -4095)
		slot->errors += 1;
	else
		slot->returned += returned;
	place = log2_of(took);
	slot->times[place < TIMES ? place : TIMES - 1] += 1;
	slot->seen = now;
	copy_comm(slot->comm, task->comm);
	return 0;
}

static __always_inline struct thread *calling(struct task_struct *task)
{
	struct thread *thread;

	if (!marked(task->tgid))
		return NULL;
	thread = bpf_task_storage_get(&threads, task, NULL, 0);
	return thread && thread->call && thread->epoch == settings.epoch ? thread : NULL;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, _Bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct thread *off = calling(prev);
	struct thread *on = calling(next);
	__u64 now;

	if (!off && !on)
		return 0;
	now = bpf_ktime_get_ns();
	if (off)
		off->off_since = now;
	if (on && on->off_since) {
		on->waited += now - on->off_since;
		on->off_since = 0;
	}
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = parent->tgid;
	__u32 *subject;

	if (parent->tgid == child->tgid || !marked(tgid))
		return 0;
	subject = bpf_map_lookup_elem(&processes, &tgid);
	if (subject)
		adopt(child->tgid, *subject);
	return 0;
}

/* Forgets the process, because its PID may be reused. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(ended, struct task_struct *task)
{
	__u32 tgid = task->tgid;

	if (marked(tgid) && task->signal->live.counter == 0)
		bpf_map_delete_elem(&processes, &tgid);
	return 0;
}

/* This is attached by name instead of by BTF type. KVM is a module on most hosts, so its tracepoints are not
 * in the kernel's BTF. */
SEC("raw_tp/kvm_entry")
int BPF_PROG(guest_entered)
{
	struct thread *thread = calling(bpf_get_current_task_btf());

	if (thread)
		thread->guest_since = bpf_ktime_get_ns();
	return 0;
}

SEC("raw_tp/kvm_exit")
int BPF_PROG(guest_left)
{
	struct thread *thread = calling(bpf_get_current_task_btf());

	if (thread && thread->guest_since) {
		thread->guest += bpf_ktime_get_ns() - thread->guest_since;
		thread->guest_since = 0;
	}
	return 0;
}

/* This runs once for each task when user space reads. */
SEC("iter/task")
int each_task(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct under_way call = {};
	struct thread *thread;
	__u64 now;

	if (!task)
		return 0;
	thread = calling(task);
	if (!thread)
		return 0;
	now = bpf_ktime_get_ns();
	call.now = now;
	call.took = now - thread->since;
	call.waiting = thread->waited + (thread->off_since ? now - thread->off_since : 0);
	call.guest = thread->guest + (thread->guest_since ? now - thread->guest_since : 0);
	call.tid = task->pid;
	call.tgid = task->tgid;
	call.nr = thread->call - 1;
	call.subject = thread->subject;
	call.thread = thread->first;
	copy_comm(call.comm, task->comm);
	copy_comm(call.process, task->group_leader->comm);
	bpf_seq_write(context->meta->seq, &call, sizeof(call));
	return 0;
}
