//! Splits counted instructions into groups of functions.

use std::collections::BTreeMap;

use findings::{FunctionInstructions, InstructionGroup};
use samples::{FunctionCount, InstructionCounts};

use crate::observations::Observations;

/// The number of functions listed for each group.
const LISTED: usize = 5;
const OTHER: &str = "other";
/// Kernel functions by prefix; the first match counts. Functions of modules are grouped by module.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "copying",
        &[
            "simple_copy",
            "memmove",
            "copy_",
            "_copy_",
            "__copy_",
            "rep_movs",
            "memcpy",
            "__memcpy",
            "skb_copy",
            "csum_partial",
            "csum_and",
        ],
    ),
    ("clearing memory", &["clear_page", "memset", "__memset"]),
    (
        "TCP",
        &[
            "tcp4_",
            "__inet_lookup_established",
            "tcp_",
            "__tcp_",
            "inet_csk_",
            "bictcp_",
            "cubictcp_",
            "bbr_",
        ],
    ),
    ("UDP", &["udp4_", "udp_", "__udp", "udpv6_", "skb_consume_udp"]),
    (
        "IP and routing",
        &[
            "fib4_",
            "__fib_",
            "iptunnel_",
            "__iptunnel",
            "raw_local",
            "l3mdev",
            "__xfrm",
            "xfrm_",
            "icmp",
            "__inet_",
            "__icmp",
            "ip_",
            "__ip_",
            "ip6_",
            "ipv6_",
            "ipv4_",
            "fib_",
            "fib6_",
            "inet_",
            "inet6_",
            "rt_",
            "rt6_",
            "neigh_",
            "dst_",
        ],
    ),
    ("netfilter", &["nf_", "nft_", "ipt_"]),
    (
        "packet buffers",
        &[
            "pskb_",
            "__pskb",
            "skb_",
            "__skb_",
            "kfree_skb",
            "consume_skb",
            "napi_skb",
            "__napi_alloc_skb",
            "build_skb",
            "__build_skb",
            "__alloc_skb",
            "alloc_skb",
            "page_frag",
            "__kfree_skb",
            "skbuff_",
        ],
    ),
    (
        "sockets",
        &[
            "sock_",
            "__sock_",
            "sk_",
            "__sk_",
            "release_sock",
            "lock_sock",
            "__release_sock",
            "__lock_sock",
            "__sys_send",
            "__sys_recv",
            "____sys_",
            "___sys_",
            "__x64_sys_send",
            "__x64_sys_recv",
            "sockfd_",
            "lock_sock_nested",
            "move_addr_to",
            "import_",
            "iov_iter",
            "_iov_",
        ],
    ),
    (
        "devices and queues",
        &[
            "netdev_",
            "dev_",
            "__dev_",
            "net_rx_",
            "net_tx_",
            "netif_",
            "__netif_",
            "napi_",
            "__napi_",
            "process_backlog",
            "enqueue_to_backlog",
            "gro_",
            "inet_gro",
            "sch_",
            "qdisc_",
            "__qdisc",
            "pfifo_",
            "validate_xmit",
            "eth_",
            "loopback_",
            "__skb_gso",
            "bpf_",
            "__bpf",
        ],
    ),
    (
        "memory allocation",
        &[
            "__rmqueue",
            "free_tail",
            "__zone",
            "__folio",
            "folio_",
            "free_pcp",
            "get_pfnblock",
            "policy_nodemask",
            "__alloc",
            "kmem_",
            "kmalloc",
            "__kmalloc",
            "kfree",
            "__kmem",
            "___slab",
            "__slab",
            "slab_",
            "alloc_pages",
            "__alloc_pages",
            "get_page_from",
            "free_unref",
            "__free_",
            "free_pages",
            "page_counter",
            "mem_cgroup",
            "memcg_",
            "__memcg",
            "try_charge",
            "rmqueue",
            "prep_",
            "put_page",
            "__put_page",
            "obj_cgroup",
            "refill_",
            "drain_obj",
        ],
    ),
    (
        "scheduler",
        &[
            "vruntime_",
            "pick_",
            "__enqueue_entity",
            "__dequeue_entity",
            "enqueue_entity",
            "dequeue_entit",
            "avg_vruntime",
            "update_entity",
            "update_deadline",
            "update_",
            "requeue_",
            "record_times",
            "__set_next",
            "__task_rq",
            "wakeup_",
            "mm_cid",
            "__rb_",
            "schedule",
            "__schedule",
            "try_to_wake",
            "pick_next",
            "__pick_",
            "enqueue_task",
            "dequeue_task",
            "update_curr",
            "update_load",
            "update_rq",
            "__update_",
            "finish_task",
            "__switch_to",
            "switch_",
            "select_task",
            "check_preempt",
            "ttwu_",
            "autoremove_wake",
            "default_wake",
            "__wake_up",
            "ep_",
            "prepare_to_wait",
            "finish_wait",
            "wait_woken",
            "woken_wake",
            "set_next",
            "put_prev",
            "reweight_",
            "place_entity",
            "native_sched_clock",
            "sched_",
            "psi_",
            "cpuacct_",
            "preempt_",
        ],
    ),
    (
        "timers and clocks",
        &[
            "lock_timer",
            "detach_if",
            "enqueue_timer",
            "__usecs",
            "__msecs",
            "hrtimer",
            "__hrtimer",
            "timer",
            "__timer",
            "mod_timer",
            "__mod_timer",
            "ktime",
            "tick_",
            "read_tsc",
            "lapic",
            "clockevents",
            "timekeeping",
            "run_timer",
            "update_process",
            "account_",
            "update_wall",
            "rcu_",
            "__rcu",
            "calc_",
            "get_next_timer",
        ],
    ),
    (
        "interrupts",
        &[
            "irq_",
            "__irq",
            "handle_",
            "do_softirq",
            "__do_softirq",
            "asm_",
            "sysvec_",
            "common_interrupt",
            "raise_softirq",
            "__raise_softirq",
            "__local_bh",
            "apic_",
            "native_apic",
            "error_",
            "exc_",
            "do_user_addr",
            "__handle_mm",
            "restore_regs",
            "paranoid",
        ],
    ),
    (
        "system calls",
        &[
            "fdget",
            "x64_sys_call",
            "arch_exit",
            "save_fpregs",
            "restore_fpregs",
            "aa_",
            "apparmor_",
            "tomoyo_",
            "entry_SYSCALL",
            "do_syscall",
            "syscall_",
            "__x64_sys",
            "ret_from",
            "exit_to_user",
            "__fget",
            "__fdget",
            "fput",
            "swapgs",
            "__get_user",
            "__put_user",
            "_raw_copy",
            "ksys_",
            "vfs_",
            "security_",
            "fpregs",
            "common_syscall",
        ],
    ),
    (
        "locks",
        &[
            "_raw_spin",
            "_raw_read",
            "_raw_write",
            "queued_",
            "native_queued",
            "mutex_",
            "__mutex",
            "rwsem",
            "up_",
            "down_",
        ],
    ),
    (
        "hardening",
        &["srso_", "__x86_", "retbleed", "entry_ibpb", "__check_", "check_", "__virt_addr", "__list_"],
    ),
    ("hashing", &["siphash", "__siphash", "jhash", "blake2", "crc32", "chacha"]),
    (
        "idle",
        &[
            "default_idle",
            "do_idle",
            "cpu_idle",
            "cpuidle",
            "arch_cpu_idle",
            "native_safe_halt",
            "acpi_idle",
            "mwait_idle",
            "call_cpuidle",
            "need_resched",
            "pv_native_safe",
        ],
    ),
];

/// The instructions of all trials, per unit of work. Empty if not counted.
pub(crate) fn groups(result: &Observations<'_>) -> Vec<InstructionGroup> {
    let counted: Vec<(&InstructionCounts, f64)> = result
        .trials()
        .filter_map(|trial| trial.instructions.as_ref().zip(trial.measurement.kind().measured_work()))
        .collect();
    let work: f64 = counted.iter().map(|(_, work)| work).sum();
    let total: u64 = counted.iter().map(|(counts, _)| counts.total).sum();
    let mut groups: BTreeMap<&str, BTreeMap<(&str, &str), u64>> = BTreeMap::new();
    let functions = || counted.iter().flat_map(|(counts, _)| &counts.functions);
    for FunctionCount { module, function, instructions } in functions() {
        *groups.entry(group_of(module, function)).or_default().entry((module, function)).or_default() +=
            instructions;
    }
    let listed: u64 = functions().map(|it| it.instructions).sum();
    if total > listed {
        groups.entry(OTHER).or_default().insert(("", ""), total - listed);
    }
    let mut groups: Vec<InstructionGroup> = groups
        .into_iter()
        .map(|(name, functions)| InstructionGroup {
            name: name.to_owned(),
            per_work: functions.values().sum::<u64>() as f64 / work,
            share: functions.values().sum::<u64>() as f64 / total as f64,
            functions: largest(&functions, work),
        })
        .collect();
    groups.sort_by(|one, other| other.share.total_cmp(&one.share));
    groups
}

fn largest(functions: &BTreeMap<(&str, &str), u64>, work: f64) -> Vec<FunctionInstructions> {
    let named = functions.iter().filter(|((module, _), _)| !module.is_empty());
    let mut sorted: Vec<_> = named.collect();
    sorted.sort_by_key(|(_, instructions)| std::cmp::Reverse(**instructions));
    let listed = sorted.into_iter().take(LISTED).map(|((_, function), instructions)| FunctionInstructions {
        function: (*function).to_owned(),
        per_work: *instructions as f64 / work,
    });
    listed.collect()
}

fn group_of<'a>(module: &'a str, function: &str) -> &'a str {
    if module != "kernel" {
        return module;
    }
    let matches = |prefixes: &&[&str]| prefixes.iter().any(|prefix| function.starts_with(prefix));
    GROUPS.iter().find(|(_, prefixes)| matches(prefixes)).map_or(OTHER, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixtures::Fixture, observations::gather};

    fn function(module: &str, function: &str, instructions: u64) -> FunctionCount {
        FunctionCount { module: module.to_owned(), function: function.to_owned(), instructions }
    }

    #[test]
    fn groups_add_up_to_the_total() {
        let mut run = Fixture::new(5);
        run.path("plain", &["wire"]).stream("plain", &[], 8e9).each("plain/bulk", |trial| {
            let functions = vec![
                function("kernel", "tcp_sendmsg", 500),
                function("veth", "veth_xmit", 300),
                function("kernel", "tcp_v4_rcv", 100),
            ];
            trial.instructions = Some(InstructionCounts { total: 1000, functions });
        });
        let measured = gather(&run.record);
        let groups = groups(&measured[0]);
        let shares: Vec<(&str, f64)> = groups.iter().map(|group| (&*group.name, group.share)).collect();
        assert_eq!(shares, [("TCP", 0.6), ("veth", 0.3), ("other", 0.1)]);
        let sum: f64 = groups.iter().map(|group| group.per_work).sum();
        assert!((sum / measured[0].values()[0] - 1.0).abs() < 0.01, "{sum} {:?}", measured[0].values());
        assert_eq!(groups[0].functions[0].function, "tcp_sendmsg");
    }
}
