//! Giving memory back to the system, so that a host that has nothing to do is small.

/// Blocks up to this size are used again instead of being handed to the system and back: a screenshot
/// takes some fifteen megabytes, and fresh pages cost more than the pixels. [`trim`] gives them back.
const KEEP: libc::c_int = 32 * 1024 * 1024;
/// Free memory at the end of the heap that is not given back before [`trim`].
const KEEP_TOP: libc::c_int = 128 * 1024 * 1024;
/// Every thread that allocates gets an arena of its own up to this many; arenas shrink badly.
const ARENAS: libc::c_int = 2;

/// Sets the allocator up; call it once, before threads are started.
pub fn tune() {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt only sets parameters of the allocator; all exist in every glibc of this century.
    #[allow(unsafe_code)]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEEP);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEEP_TOP);
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
