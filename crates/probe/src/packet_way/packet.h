/* Determines whether a packet carries the followed message, and in which direction. It looks through VXLAN
 * headers (RFC 7348) on any port. */
#pragma once

#include <bpf/bpf_endian.h>

#include "network.h"

#define TCP 6
#define UDP 17
/* VXLAN encapsulation: the outer IP, UDP and VXLAN headers, and the inner Ethernet header. */
#define ENCAPSULATION (20 + 8 + 8 + 14)
#define FRAGMENT_OFFSET 0x1fff

/* The message to follow, which user space sets (maps.rs). Addresses are in network byte order. */
struct settings {
	__u64 server;
	__u64 port;
	__u64 transport;
	__u64 message;
	__u64 every;
	/* Whether the server's processes are known. */
	__u64 knows_server;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct settings);
} wanted SEC(".maps");

static __always_inline struct settings *the_settings(void)
{
	__u32 only = 0;
	return bpf_map_lookup_elem(&wanted, &only);
}

/* An IPv4 header without options (RFC 791), then UDP (RFC 768) or the start of TCP (RFC 9293). */
struct headers {
	__u8 version;
	__u8 service;
	__be16 length;
	__be16 id;
	__be16 fragment;
	__u8 lifetime;
	__u8 transport;
	__be16 checksum;
	__be32 source;
	__be32 destination;
	__be16 source_port;
	__be16 destination_port;
	union {
		struct {
			__be16 length;
			__be16 checksum;
			/* Inside a tunnel, the VXLAN flags and the VNI. */
			__be32 payload[3];
		} udp;
		struct {
			__be32 sequence;
			__be32 acknowledged;
			__u8 offset;
			__u8 flags;
			__be16 window;
			__be16 checksum;
			__be16 urgent;
		} tcp;
	};
};

struct message {
	/* Whether the message comes from the server. */
	int back;
	/* The client's port, in network byte order. */
	__u32 client_port;
	/* Payload bytes (UDP) or the sequence number (TCP), which are the same at every layer. */
	__u64 id;
};

/* Returns whether the packet carries bytes of the message. */
static __always_inline int carries(const struct headers *at, const struct settings *settings)
{
	if (settings->transport == UDP)
		return bpf_ntohs(at->udp.length) == settings->message + 8;
	/* A packet without a length is larger than IPv4 can express (BIG TCP). */
	if (!at->length)
		return 1;
	__u32 head = sizeof(struct headers) - 20 + ((at->tcp.offset >> 4) << 2);
	__u32 length = bpf_ntohs(at->length);
	return length > head && length - head <= settings->message;
}

static __always_inline __u64 id_of(const struct headers *at, const struct settings *settings)
{
	if (settings->transport == TCP)
		return at->tcp.sequence;
	/* A message starts with an 8-byte counter, followed by the sender's token. */
	if (settings->message >= 12)
		return (__u64)at->udp.payload[1] << 32 | at->udp.payload[2];
	if (settings->message >= 8)
		return (__u64)at->udp.payload[0] << 32 | at->udp.payload[1];
	__u32 absent = settings->message < 4 ? 32 - 8 * settings->message : 0;
	return at->udp.payload[0] << (absent & 31);
}

static __always_inline int is_message(const struct headers *at, const struct settings *settings, struct message *message)
{
	if (at->version != 0x45 || at->transport != settings->transport)
		return 0;
	int there = at->destination == settings->server && at->destination_port == settings->port;
	int back = at->source == settings->server && at->source_port == settings->port;
	if (!there && !back)
		return 0;
	/* If the message is fragmented, this follows the first fragment, which contains the header. */
	if ((at->fragment & bpf_htons(FRAGMENT_OFFSET)) || !carries(at, settings))
		return 0;
	message->back = !there;
	message->client_port = there ? at->source_port : at->destination_port;
	message->id = id_of(at, settings);
	return 1;
}

static __always_inline int is_tunnel(const struct headers *at)
{
	return at->version == 0x45 && at->transport == UDP && at->udp.payload[0] == bpf_htonl(0x08000000) &&
	       !(at->udp.payload[1] & bpf_htonl(0xff));
}

/* Returns whether the packet with its IP header at `start` carries the message, possibly encapsulated. */
static __always_inline int find_message(const unsigned char *start, const struct settings *settings, struct message *message)
{
	struct headers at;
	if (bpf_probe_read_kernel(&at, sizeof(at), start))
		return 0;
	if (is_message(&at, settings, message))
		return 1;
	if (!is_tunnel(&at) || bpf_probe_read_kernel(&at, sizeof(at), start + ENCAPSULATION))
		return 0;
	return is_message(&at, settings, message);
}
