//! Giving memory back to the system, so that a host that has nothing to do is small.

/// Blocks from this size on come from the system and go back to it when freed. glibc moves the limit
/// up when such a block is freed, and would then keep the pixels of every later screenshot.
const BIG: libc::c_int = 512 * 1024;
/// Every thread that allocates gets an arena of its own up to this many; arenas shrink badly.
const ARENAS: libc::c_int = 2;

/// Sets the allocator up; call it once, before threads are started.
pub fn tune() {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt only sets parameters of the allocator; both exist in every glibc of this century.
    #[allow(unsafe_code)]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, BIG);
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
    }
}

/// Gives free memory back; takes a few milliseconds, so call it when nothing is going on.
pub fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: malloc_trim may be called at any time from any thread.
    #[allow(unsafe_code)]
    unsafe {
        libc::malloc_trim(0);
    }
}
