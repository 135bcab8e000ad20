/* The trail of the followed message. After the round trip, its points form a route, and the times between them
 * are added to that route's histograms. */
#pragma once

#include "network.h"

/* Maximum number of points per round trip. */
#define POINTS 64
/* Maximum number of distinct routes. */
#define WAYS 16
/* Histograms have 16 buckets per power of two up to 2^32 ns, as in histogram.rs. */
#define BUCKETS 464

/* Kinds of points; mirrored in routes.rs. */
enum event { CLIENT_SENDS, QUEUED, TRANSMITTED, RECEIVED, SERVER_RECEIVES, SERVER_SENDS, CLIENT_RECEIVES };

enum count { LOST, EVENTS_LEFT_OUT, WAYS_SEEN, COUNTS };

struct passed {
	/* When the program started and ended. The time in between is the probe's overhead and is excluded from
	 * the steps. */
	__u64 came;
	__u64 left;
	/* The event, the device and the namespace, see point_of. */
	__u64 point;
	struct net_device *device;
};

struct trail {
	/* Whether a message is in flight. All other fields describe this message. */
	__u64 active;
	/* The number of points passed. It exceeds POINTS if some of them did not fit. */
	__u64 passed;
	/* Messages since the last one that was followed. */
	__u64 skipped;
	/* The client's thread, descriptor and socket. */
	__u32 thread;
	__u32 file;
	struct sock *client;
	/* The server's socket, known once the server has sent. */
	struct sock *server;
	/* Bytes read from each socket. */
	__u64 server_got;
	__u64 client_got;
	/* Packet ids per direction, known after the first packet (see packet.h). */
	__u64 there;
	__u64 back;
	__u32 knows_there;
	__u32 knows_back;
	/* The client's port in the last packet, in network byte order. */
	__u32 client_port;
	__u32 padding;
	/* The address of the buffer in which the message was last seen. It still identifies the packet after a
	 * tunnel has encrypted it in place. */
	__u64 packet;
	/* The lowest measured cost of reading the clock. */
	__u64 clock;
	struct passed points[POINTS];
};

struct named {
	__u64 point;
	char device[16];
};

struct way {
	__u64 length;
	__u64 taken;
	struct named points[POINTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trail);
} trails SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

/* Maps the signature of a route to its number. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WAYS);
	__type(key, __u64);
	__type(value, __u32);
} numbers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WAYS);
	__type(key, __u32);
	__type(value, struct way);
} ways SEC(".maps");

/* The histograms of all steps. The index is POINTS * route plus the index of the later point, where point 0
 * is the total. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WAYS * POINTS);
	__type(key, __u32);
	__type(value, __u32[BUCKETS]);
} times SEC(".maps");

static __always_inline void add_count(__u32 which, __u64 n)
{
	__u64 *count = bpf_map_lookup_elem(&counts, &which);
	if (count)
		__sync_fetch_and_add(count, n);
}

static __always_inline struct trail *the_trail(void)
{
	__u32 only = 0;
	return bpf_map_lookup_elem(&trails, &only);
}

static __always_inline __u64 point_of(enum event event, struct net_device *device)
{
	__u64 place = 0;
	if (device)
		place = ((__u64)(device->ifindex & 0xffffff) << 32) | device->nd_net.net->ns.inum;
	return ((__u64)event << 56) | place;
}

static __always_inline void pass(struct trail *trail, enum event event, struct net_device *device, __u64 came)
{
	__u64 place = __sync_fetch_and_add(&trail->passed, 1);
	if (place >= POINTS)
		return;
	struct passed *passed = &trail->points[place];
	passed->came = came;
	passed->point = point_of(event, device);
	passed->device = device;
	passed->left = bpf_ktime_get_ns();
}

static __always_inline void time_clock(struct trail *trail)
{
	__u64 first = bpf_ktime_get_ns(), clock = bpf_ktime_get_ns() - first;
	if (!trail->clock || clock < trail->clock)
		trail->clock = clock;
}

/* Returns the histogram bucket: one per nanosecond below 16 ns, then 16 per power of two. */
static __always_inline __u32 bucket_of(__u64 time)
{
	if (time < 16)
		return time;
	if (time >> 32)
		return BUCKETS - 1;
	__u32 rest = time, power = 0;
	if (rest >> 16) { power += 16; rest >>= 16; }
	if (rest >> 8) { power += 8; rest >>= 8; }
	if (rest >> 4) { power += 4; rest >>= 4; }
	if (rest >> 2) { power += 2; rest >>= 2; }
	if (rest >> 1) power += 1;
	return ((power - 4) << 4) + (__u32)(time >> ((power - 4) & 31));
}

/* This and the next three functions are global, so that the verifier checks each of them once instead of in
 * every combination of branches. */
__noinline int add_time(__u32 number, __u64 time)
{
	__u32 *histogram = bpf_map_lookup_elem(&times, &number);
	__u32 bucket = bucket_of(time);
	if (histogram && bucket < BUCKETS)
		__sync_fetch_and_add(&histogram[bucket], 1);
	return 0;
}

/* Returns the signature of the trail's route. */
__noinline __u64 sign_trail(void)
{
	struct trail *trail = the_trail();
	if (!trail)
		return 0;
	__u64 signature = trail->passed;
	for (__u32 i = 0; i < POINTS && i < trail->passed; i++) {
		signature = (signature ^ trail->points[i].point) * 0x9e3779b97f4a7c15ULL;
		signature ^= signature >> 29;
	}
	return signature;
}

/* Assigns a number to a new route. Returns a negative number if there is no room. */
__noinline int enter_way(__u64 signature)
{
	struct trail *trail = the_trail();
	__u32 which = WAYS_SEEN;
	__u64 *seen = bpf_map_lookup_elem(&counts, &which);
	if (!trail || !seen || *seen >= WAYS)
		return -1;
	__u32 number = __sync_fetch_and_add(seen, 1);
	struct way *way = bpf_map_lookup_elem(&ways, &number);
	if (!way)
		return -1;
	way->length = trail->passed;
	for (__u32 i = 0; i < POINTS && i < trail->passed; i++) {
		struct net_device *device = trail->points[i].device;
		way->points[i].point = trail->points[i].point;
		if (device)
			bpf_core_read(way->points[i].device, sizeof(way->points[i].device), &device->name);
	}
	bpf_map_update_elem(&numbers, &signature, &number, BPF_ANY);
	return number;
}

/* Adds the times between points, and their sum as point 0. */
__noinline int add_times(__u32 number)
{
	struct trail *trail = the_trail();
	struct way *way = bpf_map_lookup_elem(&ways, &number);
	if (!trail || !way)
		return 0;
	__u64 whole = 0;
	for (__u32 i = 1; i < POINTS && i < trail->passed; i++) {
		__u64 from = trail->points[i - 1].left + trail->clock, to = trail->points[i].came;
		__u64 time = to > from ? to - from : 0;
		add_time(number * POINTS + i, time);
		whole += time;
	}
	add_time(number * POINTS, whole);
	__sync_fetch_and_add(&way->taken, 1);
	return 0;
}

/* Completes the message and adds its times to its route. */
static __always_inline void settle(struct trail *trail)
{
	trail->active = 0;
	__u64 signature = sign_trail(), left_out = trail->passed;
	if (trail->passed <= POINTS) {
		__u32 *known = bpf_map_lookup_elem(&numbers, &signature);
		int number = known ? (int)*known : enter_way(signature);
		if (number >= 0) {
			add_times(number);
			return;
		}
	} else {
		left_out -= POINTS;
	}
	add_count(EVENTS_LEFT_OUT, left_out);
	add_count(LOST, 1);
}
