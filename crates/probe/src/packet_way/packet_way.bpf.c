/* Follows one message of a closed loop at a time, from the client's send through every device to the server and
 * back. The times between points are added to histograms, without sending events to user space. Only one message
 * is in flight, so packets need no identifier, even through copies, tunnels and other network stacks. */
#include "calls.h"
#include "packet.h"
#include "subjects.h"
#include "trail.h"

enum role { CLIENT = 1, SERVER = 2 };

static __always_inline __u32 role_here(void)
{
	__u32 role = subject_by_number(bpf_get_current_pid_tgid() >> 32);

	return role ? role : subject_by_place(bpf_get_current_task_btf());
}

/* Returns the socket behind a descriptor of the current task, or NULL if it is another kind of file. */
static __always_inline struct sock *socket_of(__u32 descriptor)
{
	struct task_struct___way *task = (void *)bpf_get_current_task_btf();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd), *file = NULL;
	if (descriptor >= BPF_CORE_READ(table, max_fds))
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), files + descriptor);
	/* S_IFMT and S_IFSOCK from linux/stat.h. */
	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & 0170000) != 0140000)
		return NULL;
	struct socket *socket = BPF_CORE_READ(file, private_data);
	return BPF_CORE_READ(socket, sk);
}

static __always_inline int is_connected(struct sock *socket, const struct settings *settings)
{
	if (!settings->server[1])
		return BPF_CORE_READ(socket, __sk_common.skc_daddr) == settings->server[0];
	__u64 address[2] = {};
	/* A kernel without IPv6 lacks the field. */
	if (bpf_core_field_exists(socket->__sk_common.skc_v6_daddr))
		bpf_core_read(address, sizeof(address), &socket->__sk_common.skc_v6_daddr);
	return address[0] == settings->server[0] && address[1] == settings->server[1];
}

/* Returns whether the socket is connected to the observed server, or is an unconnected socket of the client. */
static __always_inline int is_clients(struct sock *socket, const struct settings *settings)
{
	if (BPF_CORE_READ(socket, sk_protocol) != settings->transport)
		return 0;
	__u16 port = BPF_CORE_READ(socket, __sk_common.skc_dport);
	return !port || (port == settings->port && is_connected(socket, settings));
}

/* Returns whether the socket is the server's end of the connection that the message uses. */
static __always_inline int is_servers(struct sock *socket, const struct settings *settings, const struct trail *trail)
{
	if (!socket || BPF_CORE_READ(socket, sk_protocol) != settings->transport)
		return 0;
	__u16 peer = BPF_CORE_READ(socket, __sk_common.skc_dport);
	return BPF_CORE_READ(socket, __sk_common.skc_num) == bpf_ntohs(settings->port) &&
	       (!peer || peer == trail->client_port);
}

static __always_inline void begin(struct trail *trail, __u32 thread, __u32 file, struct sock *socket)
{
	trail->skipped = 0;
	trail->passed = 0;
	trail->thread = thread;
	trail->file = file;
	trail->client = socket;
	trail->server = NULL;
	trail->server_got = trail->client_got = 0;
	trail->knows_there = trail->knows_back = 0;
	trail->client_port = 0;
	trail->packet = 0;
	time_clock(trail);
	pass(trail, CLIENT_SENDS, NULL, bpf_ktime_get_ns());
	/* This is written last, so that no other CPU sees a partial trail. */
	__sync_lock_test_and_set(&trail->active, 1);
}

static __always_inline void client_sends(struct trail *trail, const struct settings *settings, __u32 file)
{
	__u32 thread = bpf_get_current_pid_tgid();
	if (trail->active) {
		if (trail->thread != thread || trail->file != file)
			return;
		/* The client is sending the next message, so the followed message or its reply was lost. */
		trail->active = 0;
		add_count(LOST, 1);
	}
	if (++trail->skipped < settings->every)
		return;
	struct sock *socket = socket_of(file);
	if (socket && is_clients(socket, settings))
		begin(trail, thread, file, socket);
}

static __always_inline void server_sends(struct trail *trail, const struct settings *settings, __u32 file)
{
	if (!trail->active || trail->server)
		return;
	__u64 came = bpf_ktime_get_ns();
	struct sock *socket = socket_of(file);
	if (!is_servers(socket, settings, trail))
		return;
	trail->server = socket;
	pass(trail, SERVER_SENDS, NULL, came);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_begins, struct pt_regs___way *registers, long id)
{
	if (!is_send(id))
		return 0;
	struct settings *settings = the_settings();
	struct trail *trail = the_trail();
	if (!settings || !trail || (tells_length(id) && LENGTH_ARGUMENT(registers) != settings->message))
		return 0;
	__u32 role = role_here();
	if (role == CLIENT)
		client_sends(trail, settings, FILE_ARGUMENT(registers));
	else if (role == SERVER)
		server_sends(trail, settings, FILE_ARGUMENT(registers));
	return 0;
}

/* Adds received bytes. Returns 1 once, when they complete the message. */
static __always_inline int completes(__u64 *got, long id, long returned, const struct settings *settings)
{
	__u64 before = *got;
	*got = before + (id == RECVMMSG ? settings->message : (__u64)returned);
	return before < settings->message && *got >= settings->message;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_ends, struct pt_regs___way *registers, long returned)
{
	struct trail *trail = the_trail();
	if (returned <= 0 || !trail || !trail->active)
		return 0;
	__u64 id = NUMBER(registers), came = bpf_ktime_get_ns();
	struct settings *settings = the_settings();
	if (!settings || !is_receive(id))
		return 0;
	__u32 role = role_here(), file = FILE_ARGUMENT(registers);
	if (role == SERVER && is_servers(socket_of(file), settings, trail)) {
		if (completes(&trail->server_got, id, returned, settings)) {
			pass(trail, SERVER_RECEIVES, NULL, came);
			trail->packet = 0;
		}
	} else if (role == CLIENT && trail->thread == (__u32)bpf_get_current_pid_tgid() && trail->file == file) {
		if (!completes(&trail->client_got, id, returned, settings))
			return 0;
		if (settings->knows_server && !trail->server) {
			/* This is a late reply to an earlier message. */
			trail->active = 0;
			add_count(LOST, 1);
		} else {
			pass(trail, CLIENT_RECEIVES, NULL, came);
			settle(trail);
		}
	}
	return 0;
}

/* The first packet is identified by its socket, and later ones by the id of the message. */
static __always_inline int is_followed(struct trail *trail, const struct settings *settings, struct sk_buff *skb,
				       const struct message *message)
{
	if (!message->back) {
		if (trail->knows_there)
			return trail->there == message->id;
		trail->there = message->id;
		return trail->knows_there = skb->sk == trail->client;
	}
	if (trail->knows_back)
		return trail->back == message->id;
	trail->back = message->id;
	return trail->knows_back = settings->knows_server ? trail->server && skb->sk == trail->server : 1;
}

static __always_inline int packet(struct sk_buff *skb, const unsigned char *start, enum event event, struct trail *trail)
{
	__u64 came = bpf_ktime_get_ns();
	struct settings *settings = the_settings();
	struct message message;
	if (!settings)
		return 0;
	enum content content = read_content(start, settings, &message);
	if (content == MESSAGE) {
		if (!is_followed(trail, settings, skb, &message))
			return 0;
		if (!message.back)
			trail->client_port = message.client_port;
		trail->packet = (__u64)skb;
	} else if (content != ENCRYPTED || trail->packet != (__u64)skb) {
		return 0;
	}
	pass(trail, event, skb->dev, came);
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(queued, struct sk_buff *skb)
{
	struct trail *trail = the_trail();
	if (!trail || !trail->active)
		return 0;
	return packet(skb, skb->head + skb->network_header, QUEUED, trail);
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(transmitted, struct sk_buff *skb)
{
	struct trail *trail = the_trail();
	if (!trail || !trail->active)
		return 0;
	return packet(skb, skb->head + skb->network_header, TRANSMITTED, trail);
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(received, struct sk_buff *skb)
{
	struct trail *trail = the_trail();
	if (!trail || !trail->active)
		return 0;
	return packet(skb, skb->data, RECEIVED, trail);
}

/* The children of a client or server process have the same role. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid;
	__u32 *role = from == to ? NULL : bpf_map_lookup_elem(&processes, &from);
	if (role)
		bpf_map_update_elem(&processes, &to, role, BPF_ANY);
	return 0;
}
