/* Kernel structures for following packets, in addition to those in ../bpf/kernel.h (include/linux/skbuff.h,
 * netdevice.h, fdtable.h, net.h, include/net/sock.h). BTF relocates the offsets. */
#pragma once

#include "kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	char name[16];
	int ifindex;
	possible_net_t nd_net;
};

struct in6_addr {
	__u64 words[2];
};

struct sock_common {
	__u32 skc_daddr;
	struct in6_addr skc_v6_daddr;
	__u16 skc_dport;
	__u16 skc_num;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned int len;
	unsigned int data_len;
	__u16 network_header;
	unsigned char *head;
	unsigned char *data;
};

struct socket {
	struct sock *sk;
};

struct inode {
	unsigned short i_mode;
};

struct file {
	struct inode *f_inode;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct___way {
	struct files_struct *files;
};

#pragma clang attribute pop
