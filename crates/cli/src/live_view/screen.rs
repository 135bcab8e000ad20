//! Sets up and restores the terminal for the live view, redraws it up to four times per second, and handles keys.

use std::{
    fs,
    io::{self, BufWriter, Stderr},
    panic,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, TryRecvError},
    },
    thread,
    time::{Duration, Instant},
};

use lab::Stop;
use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor, event,
        event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
        execute, terminal,
    },
};
use watch::{Message, State, cpu_time};

use super::{colours::Colours, draw::draw};

const FRAME: Duration = Duration::from_millis(250);
/// Large enough to write a frame with one system call.
const BUFFER: usize = 64 << 10;
const PAGE: usize = 8;

static TAKEN: AtomicBool = AtomicBool::new(false);

pub(super) struct Screen(Terminal<CrosstermBackend<BufWriter<Stderr>>>);

impl Screen {
    pub(super) fn take() -> io::Result<Self> {
        give_back_on_panic();
        terminal::enable_raw_mode()?;
        TAKEN.store(true, Ordering::Relaxed);
        let entered = execute!(io::stderr(), terminal::EnterAlternateScreen, cursor::Hide);
        let writer = BufWriter::with_capacity(BUFFER, io::stderr());
        let screen = entered.and_then(|()| Terminal::new(CrosstermBackend::new(writer)));
        screen.map(Self).inspect_err(|_| give_back())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Ignores errors, because a second attempt would fail, too.
fn give_back() {
    if TAKEN.swap(false, Ordering::Relaxed) {
        let _ = execute!(io::stderr(), terminal::LeaveAlternateScreen, cursor::Show);
        let _ = terminal::disable_raw_mode();
    }
}

/// Restores the terminal on a panic, so that the message is visible.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
    });
}

pub(super) fn show(
    screen: &mut Screen,
    state: &mut State,
    messages: &Receiver<Message>,
    (stop, colours): (&Stop, Colours),
) {
    let mut drawn: Option<Instant> = None;
    loop {
        // Stop drawing if a panic has already restored the terminal.
        if !TAKEN.load(Ordering::Relaxed) {
            return;
        }
        let wait = drawn.map_or(Duration::ZERO, |drawn| FRAME.saturating_sub(drawn.elapsed()));
        handle_keys(wait, state, stop);
        loop {
            match messages.try_recv() {
                Ok(message) => state.take(message, Instant::now()),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
        if drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME) {
            state.take(Message::Cost(cpu_time()), Instant::now());
            if screen.0.draw(|frame| draw(frame, state, colours, Instant::now())).is_err() {
                return;
            }
            drawn = Some(Instant::now());
        }
    }
}

fn handle_keys(wait: Duration, state: &mut State, stop: &Stop) {
    match event::poll(wait) {
        Ok(true) => {}
        Ok(false) => return,
        Err(_) => return thread::sleep(wait),
    }
    let Ok(Event::Key(key)) = event::read() else { return };
    if key.kind == KeyEventKind::Release {
        return;
    }
    if is_end(key) {
        stop.ask();
        state.take(Message::Ending, Instant::now());
        return;
    }
    let first = state.first_row;
    state.scroll = match key.code {
        KeyCode::Up | KeyCode::Char('k') => Some(first.saturating_sub(1)),
        KeyCode::Down | KeyCode::Char('j') => Some(first + 1),
        KeyCode::PageUp => Some(first.saturating_sub(PAGE)),
        KeyCode::PageDown => Some(first + PAGE),
        KeyCode::Home | KeyCode::Esc => None,
        _ => state.scroll,
    };
}

fn is_end(key: KeyEvent) -> bool {
    let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    is_interrupt || matches!(key.code, KeyCode::Char('q' | 'Q'))
}

/// The kernel stops a background process that accesses the terminal (proc_pid_stat(5): `pgrp`, `tpgid`).
pub(super) fn is_in_foreground() -> bool {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let fields: Vec<&str> = fields.split(' ').collect();
    fields.get(2).is_some() && fields.get(2) == fields.get(5)
}
