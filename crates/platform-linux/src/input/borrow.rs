//! Keycodes that write nothing, lent to characters the layout cannot write.
//!
//! Programs read the keyboard map late: a key event is turned into text with the map of the moment it
//! is *handled*, not sent. So a keycode is given another character only when the program has handled
//! its last event ([`Barrier`]); a program that cannot tell gets time instead: a keycode must be old
//! enough ([`AGE`]), the least recently used ones go first, and after a change comes [`SETTLE`]. All
//! keycodes are given back at the end; a property on the root window names them, so that what a killed
//! process left behind is found.

use std::time::{Duration, Instant};

use deskhand_platform::{PlatformError, Result, Scope};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, PropMode};
use x11rb::wrapper::ConnectionExt as _;

use super::barrier::Barrier;
use crate::x11::Conn;

const DOING: &str = "lending a key to a character";
/// Time programs get to notice a changed map.
const SETTLE: Duration = Duration::from_millis(60);
/// The same for a program that answers pings.
const SETTLE_SURE: Duration = Duration::from_millis(10);
/// A program that has not handled its keys after this long is frozen.
const FROZEN: Duration = Duration::from_secs(5);
/// Age of a keycode's last event before it may mean something else.
const AGE: Duration = Duration::from_millis(160);
/// Keycodes lent at once at most.
const MOST: usize = 48;

/// A keycode with a symbol without and one with Shift.
struct Slot {
    code: u8,
    symbols: [Option<u32>; 2],
    used: Option<Instant>,
}

impl Slot {
    fn has(&self, symbol: u32) -> bool {
        self.symbols.contains(&Some(symbol))
    }
}

/// The keycodes that can be lent.
pub(super) struct Borrowed {
    slots: Vec<Slot>,
    touched: bool,
    barrier: Option<Barrier>,
}

impl Borrowed {
    /// Nothing lent yet.
    pub(super) fn new(spare: &[u8]) -> Self {
        let slots =
            spare.iter().take(MOST).map(|&code| Slot { code, symbols: [None; 2], used: None }).collect();
        Self { slots, touched: false, barrier: None }
    }

    /// How many characters can be lent in one go: all when the program tells what it has handled, else
    /// half of the keycodes, so that the other half can age.
    pub(super) fn batch(&self) -> usize {
        2 * if self.barrier.is_some() { self.slots.len() } else { self.slots.len().div_ceil(2) }
    }

    /// Finds out whether the program with the keyboard answers pings. Once, before the first loan.
    pub(super) fn prepare(&mut self, conn: &Conn) -> Result<()> {
        if !self.touched && self.barrier.is_none() {
            self.barrier = Barrier::new(conn)?;
        }
        Ok(())
    }

    /// The keycode lent to a symbol, and whether it takes Shift; counts as used now.
    pub(super) fn take(&mut self, symbol: u32) -> Option<(u8, bool)> {
        let slot = self.slots.iter_mut().find(|s| s.has(symbol))?;
        slot.used = Some(Instant::now());
        Some((slot.code, slot.symbols[0] != Some(symbol)))
    }

    /// Whether a symbol has a keycode.
    pub(super) fn has(&self, symbol: u32) -> bool {
        self.slots.iter().any(|s| s.has(symbol))
    }

    /// Lends keycodes to `wanted` (at most [`Self::batch`] symbols) and waits until programs know.
    /// Symbols in `wanted` that have a keycode already keep it.
    pub(super) fn lend(&mut self, conn: &Conn, wanted: &[u32], scope: &Scope) -> Result<()> {
        if self.slots.is_empty() {
            return Err(PlatformError::Unsupported {
                what: "typing characters the keyboard layout does not have".into(),
                why: "every keycode of the layout is taken; paste the text instead".into(),
            });
        }
        self.slots.sort_by_key(|s| s.used);
        // A keycode keeps both its characters when one of them is still wanted, so not all that is
        // wanted may fit: what comes first is lent first.
        let (new, mut free) = (1..=wanted.len().min(self.batch()))
            .rev()
            .map(|first| self.room(&wanted[..first]))
            .find(|(new, free)| new.len() <= 2 * free.len())
            .unwrap_or_default();
        if new.is_empty() {
            return Ok(());
        }
        free.truncate(new.len().div_ceil(2));
        let youngest = free.iter().filter_map(|&i| self.slots[i].used).max();
        match (youngest, &mut self.barrier) {
            (None, _) => {}
            (Some(used), None) => scope.sleep(AGE.saturating_sub(used.elapsed()), DOING)?,
            (Some(_), Some(barrier)) => {
                let over = || scope.check(DOING).is_err();
                if !barrier.wait(conn, FROZEN, over)? {
                    scope.check(DOING)?;
                    return Err(PlatformError::AppUnresponsive {
                        app: "the program that has the keyboard".into(),
                        doing: "it did not take the keys typed so far".into(),
                    });
                }
            }
        }
        self.touched = true;
        let codes: Vec<u32> =
            std::iter::once(std::process::id()).chain(self.slots.iter().map(|s| u32::from(s.code))).collect();
        let fail = |e| PlatformError::display(DOING, e);
        conn.x
            .change_property32(
                PropMode::REPLACE,
                conn.root,
                conn.atoms._DESKHAND_KEYS,
                AtomEnum::CARDINAL,
                &codes,
            )
            .map_err(fail)?;
        for (&i, pair) in free.iter().zip(new.chunks(2)) {
            let slot = &mut self.slots[i];
            // A symbol alone stands on both levels: else the server would make up the other case.
            let (plain, shifted) = (pair[0], pair.get(1).copied().unwrap_or(pair[0]));
            slot.symbols = [Some(plain), Some(shifted)];
            slot.used = None;
            conn.x.change_keyboard_mapping(1, slot.code, 2, &[plain, shifted]).map_err(fail)?;
        }
        conn.sync(DOING)?;
        scope.sleep(if self.barrier.is_some() { SETTLE_SURE } else { SETTLE }, DOING)
    }

    /// Those of `wanted` that have no keycode, and the slots that hold none of `wanted`.
    fn room(&self, wanted: &[u32]) -> (Vec<u32>, Vec<usize>) {
        let new = wanted.iter().copied().filter(|s| !self.has(*s)).collect();
        let free = (0..self.slots.len()).filter(|&i| !wanted.iter().any(|s| self.slots[i].has(*s))).collect();
        (new, free)
    }

    /// Gives everything back. Waits for programs to handle what was typed, unless there is no time.
    pub(super) fn give_back(&mut self, conn: &Conn, hurry: bool) -> Result<()> {
        if let Some(mut barrier) = self.barrier.take() {
            if self.touched {
                barrier.wait(conn, if hurry { AGE / 4 } else { FROZEN }, || false)?;
            }
            Barrier::end(conn)?;
        } else if let Some(used) = self.slots.iter().filter_map(|s| s.used).max() {
            let age = if hurry { AGE / 4 } else { AGE };
            std::thread::sleep(age.saturating_sub(used.elapsed()));
        }
        if !self.touched {
            return Ok(());
        }
        let fail = |e| PlatformError::display(DOING, e);
        for slot in self.slots.iter_mut().filter(|s| s.symbols[0].is_some()) {
            conn.x.change_keyboard_mapping(1, slot.code, 2, &[0, 0]).map_err(fail)?;
            slot.symbols = [None; 2];
        }
        conn.x.delete_property(conn.root, conn.atoms._DESKHAND_KEYS).map_err(fail)?;
        self.touched = false;
        conn.sync(DOING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_character_always_finds_room() {
        let mut lent = Borrowed::new(&[1, 2, 3]);
        for (slot, pair) in lent.slots.iter_mut().zip([[10, 11], [20, 21], [30, 31]]) {
            slot.symbols = pair.map(Some);
        }
        // Each slot holds one that is wanted later and one that is not.
        let wanted = [40, 10, 20, 30, 50];
        let fits = (1..=wanted.len())
            .rev()
            .map(|n| lent.room(&wanted[..n]))
            .find(|(new, free)| new.len() <= 2 * free.len());
        let (new, free) = fits.unwrap();
        assert!(new.contains(&40) && !free.is_empty(), "{new:?} {free:?}");
        assert_eq!(lent.room(&[10, 11]).0, Vec::<u32>::new());
    }
}
