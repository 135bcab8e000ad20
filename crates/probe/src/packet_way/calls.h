/* The system calls that send and receive, and their arguments. Numbers: arch/x86/entry/syscalls/syscall_64.tbl and
 * include/uapi/asm-generic/unistd.h. */
#pragma once

#include "kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#ifdef __TARGET_ARCH_x86

enum { READ = 0, WRITE = 1, READV = 19, WRITEV = 20, SENDTO = 44, RECVFROM = 45, SENDMSG = 46, RECVMSG = 47 };
enum { RECVMMSG = 299, SENDMMSG = 307 };

struct pt_regs___way {
	unsigned long di;
	unsigned long dx;
	unsigned long orig_ax;
};

#define NUMBER(registers) ((registers)->orig_ax)
#define FILE_ARGUMENT(registers) ((registers)->di)
#define LENGTH_ARGUMENT(registers) ((registers)->dx)

#else

enum { READ = 63, WRITE = 64, READV = 65, WRITEV = 66, SENDTO = 206, RECVFROM = 207, SENDMSG = 211, RECVMSG = 212 };
enum { RECVMMSG = 243, SENDMMSG = 269 };

struct pt_regs___way {
	unsigned long long regs[31];
	unsigned long long orig_x0;
	int syscallno;
};

#define NUMBER(registers) ((registers)->syscallno)
/* The return value replaces the first argument in x0. */
#define FILE_ARGUMENT(registers) ((registers)->orig_x0)
#define LENGTH_ARGUMENT(registers) ((registers)->regs[2])

#endif

#pragma clang attribute pop

static __always_inline int is_send(__u64 id)
{
	return id == WRITE || id == WRITEV || id == SENDTO || id == SENDMSG || id == SENDMMSG;
}

static __always_inline int is_receive(__u64 id)
{
	return id == READ || id == READV || id == RECVFROM || id == RECVMSG || id == RECVMMSG;
}

/* Whether the third argument is the length. */
static __always_inline int tells_length(__u64 id)
{
	return id == WRITE || id == SENDTO;
}
