/* Determines whether a packet carries the followed message, and in which direction. Looks inside VXLAN
 * (RFC 7348) and GENEVE (RFC 8926) without options on any port, and inside GRE (RFC 2784, RFC 2890) without
 * checksums and sequence numbers. */
#pragma once

#include <bpf/bpf_endian.h>

#include "network.h"

#define TCP 6
#define UDP 17
#define GRE 47
#define ESP 50
#define GRE_KEY 0x2000
#define ETHERNET 14
/* The EtherType of Ethernet frames in a tunnel. */
#define BRIDGED 0x6558
#define FRAGMENT_OFFSET 0x1fff
/* IPv6 extension headers (RFC 8200, section 4). */
#define HOP_BY_HOP 0
#define ROUTING 43
#define FRAGMENT 44
#define DESTINATION 60
#define FRAGMENT_OFFSET_IPV6 0xfff8
#define MOST_EXTENSIONS 4

/* The message to follow, set by user space (maps.rs). Addresses are in network byte order. An IPv4 address is
 * in the first 4 bytes. */
struct settings {
	__u64 server[2];
	__u64 port;
	__u64 transport;
	__u64 message;
	__u64 every;
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

/* A header without options (RFC 791). */
struct ipv4 {
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
};

struct ipv6 {
	__be32 version;
	__be16 length;
	__u8 next;
	__u8 hops;
	__u64 source[2];
	__u64 destination[2];
};

/* UDP (RFC 768) or the start of TCP (RFC 9293). */
struct segment {
	__be16 source_port;
	__be16 destination_port;
	union {
		struct {
			__be16 length;
			__be16 checksum;
			/* Inside a tunnel, the flags and the VNI. */
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

struct packet {
	__u64 source[2];
	__u64 destination[2];
	/* The length of the IP headers. */
	__u32 head;
	/* The length of the segment, or 0 if it is larger than the IP header can express (BIG TCP). */
	__u32 length;
	__u32 transport;
	struct segment segment;
};

struct message {
	/* Whether the message comes from the server. */
	int back;
	/* The client's port, in network byte order. */
	__u32 client_port;
	/* The id of the message at every layer: payload bytes (UDP) or the sequence number (TCP). */
	__u64 id;
};

static __always_inline int skip_extensions(struct packet *at, const unsigned char *start)
{
	for (int i = 0; i < MOST_EXTENSIONS; i++) {
		struct {
			__u8 next;
			__u8 length;
			__be16 offset;
		} extension;
		int is_fragment = at->transport == FRAGMENT;
		if (!is_fragment && at->transport != HOP_BY_HOP && at->transport != ROUTING && at->transport != DESTINATION)
			return 1;
		if (bpf_probe_read_kernel(&extension, sizeof(extension), start + at->head))
			return 0;
		if (is_fragment && (extension.offset & bpf_htons(FRAGMENT_OFFSET_IPV6)))
			return 0;
		__u32 length = is_fragment ? 8 : (extension.length + 1) * 8;
		at->transport = extension.next;
		at->head += length;
		at->length = at->length > length ? at->length - length : 0;
	}
	return 0;
}

/* If a packet is fragmented, only its first fragment has all headers. */
static __always_inline int read_packet(const unsigned char *start, struct packet *at)
{
	union {
		struct ipv4 v4;
		struct ipv6 v6;
	} ip;
	if (bpf_probe_read_kernel(&ip, sizeof(ip), start))
		return 0;
	if (ip.v4.version == 0x45) {
		if (ip.v4.fragment & bpf_htons(FRAGMENT_OFFSET))
			return 0;
		at->source[0] = ip.v4.source;
		at->destination[0] = ip.v4.destination;
		at->source[1] = at->destination[1] = 0;
		at->head = sizeof(ip.v4);
		at->length = ip.v4.length ? bpf_ntohs(ip.v4.length) - sizeof(ip.v4) : 0;
		at->transport = ip.v4.transport;
	} else if (ip.v4.version >> 4 == 6) {
		at->source[0] = ip.v6.source[0];
		at->source[1] = ip.v6.source[1];
		at->destination[0] = ip.v6.destination[0];
		at->destination[1] = ip.v6.destination[1];
		at->head = sizeof(ip.v6);
		at->length = bpf_ntohs(ip.v6.length);
		at->transport = ip.v6.next;
		if (!skip_extensions(at, start))
			return 0;
	} else {
		return 0;
	}
	return !bpf_probe_read_kernel(&at->segment, sizeof(at->segment), start + at->head);
}

static __always_inline int carries(const struct packet *at, const struct settings *settings)
{
	if (settings->transport == UDP)
		return bpf_ntohs(at->segment.udp.length) == settings->message + 8;
	if (!at->length)
		return 1;
	__u32 head = (at->segment.tcp.offset >> 4) << 2;
	return at->length > head && at->length - head <= settings->message;
}

static __always_inline __u64 id_of(const struct packet *at, const struct settings *settings)
{
	if (settings->transport == TCP)
		return at->segment.tcp.sequence;
	/* A message starts with an 8-byte counter, followed by the sender's token. */
	if (settings->message >= 12)
		return (__u64)at->segment.udp.payload[1] << 32 | at->segment.udp.payload[2];
	if (settings->message >= 8)
		return (__u64)at->segment.udp.payload[0] << 32 | at->segment.udp.payload[1];
	__u32 absent = settings->message < 4 ? 32 - 8 * settings->message : 0;
	return at->segment.udp.payload[0] << (absent & 31);
}

static __always_inline int is_server(const __u64 *address, __be16 port, const struct settings *settings)
{
	return address[0] == settings->server[0] && address[1] == settings->server[1] && port == settings->port;
}

static __always_inline int is_message(const struct packet *at, const struct settings *settings, struct message *message)
{
	if (at->transport != settings->transport)
		return 0;
	int there = is_server(at->destination, at->segment.destination_port, settings);
	if ((!there && !is_server(at->source, at->segment.source_port, settings)) || !carries(at, settings))
		return 0;
	message->back = !there;
	message->client_port = there ? at->segment.source_port : at->segment.destination_port;
	message->id = id_of(at, settings);
	return 1;
}

/* Returns the length of the headers between the outer and the inner IP header, or 0 if this is not a tunnel. */
static __always_inline __u32 encapsulation(const struct packet *at)
{
	const struct segment *outer = &at->segment;
	if (at->transport == UDP) {
		int is_vxlan = outer->udp.payload[0] == bpf_htonl(0x08000000);
		int is_geneve = outer->udp.payload[0] == bpf_htonl(BRIDGED);
		return (is_vxlan || is_geneve) && !(outer->udp.payload[1] & bpf_htonl(0xff)) ? 8 + 8 + ETHERNET : 0;
	}
	if (at->transport == GRE) {
		/* GRE has its flags and EtherType where other protocols have the ports. With other flags or
		 * versions, the header differs. */
		if (outer->source_port & ~bpf_htons(GRE_KEY))
			return 0;
		__u32 length = outer->source_port ? 8 : 4;
		return outer->destination_port == bpf_htons(BRIDGED) ? length + ETHERNET : length;
	}
	return 0;
}

enum content { OTHER, MESSAGE, ENCRYPTED };

/* WireGuard data messages begin with type 4 (https://www.wireguard.com/protocol/). */
static __always_inline enum content content_of(const struct packet *at, const struct settings *settings,
					       struct message *message)
{
	if (is_message(at, settings, message))
		return MESSAGE;
	int is_wireguard = at->transport == UDP && at->segment.udp.payload[0] == bpf_htonl(0x04000000);
	return at->transport == ESP || is_wireguard ? ENCRYPTED : OTHER;
}

/* Reads the packet with its IP header at `start`, and the packet inside if it is a tunnel. */
static __always_inline enum content read_content(const unsigned char *start, const struct settings *settings,
						 struct message *message)
{
	struct packet at;
	if (!read_packet(start, &at))
		return OTHER;
	enum content content = content_of(&at, settings, message);
	if (content != OTHER)
		return content;
	__u32 headers = encapsulation(&at);
	if (!headers || !read_packet(start + at.head + headers, &at))
		return OTHER;
	return content_of(&at, settings, message);
}
