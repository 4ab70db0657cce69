//! Keeps the evidence folder within bounds.

use std::fs;
use std::path::Path;

/// Most bytes of evidence; the oldest days go first. The product's disk budget is 2 GB in all.
const MAX_BYTES: u64 = 1_000_000_000;

/// Removes the oldest bundles until the rest fits; returns how many went.
pub(super) fn prune(root: &Path) -> usize {
    prune_to(root, MAX_BYTES)
}

fn prune_to(root: &Path, max: u64) -> usize {
    let mut bundles = Vec::new();
    for day in entries(root) {
        for bundle in entries(&day) {
            let size = size_of(&bundle);
            let modified = fs::metadata(&bundle).and_then(|m| m.modified()).ok();
            bundles.push((modified, bundle, size));
        }
    }
    bundles.sort();
    let mut total: u64 = bundles.iter().map(|b| b.2).sum();
    let mut removed = 0;
    for (_, path, size) in bundles {
        if total <= max {
            break;
        }
        if fs::remove_dir_all(&path).is_ok() {
            total -= size;
            removed += 1;
            // An empty day goes too; one that is not empty stays.
            let _ = path.parent().map(fs::remove_dir);
        }
    }
    removed
}

fn entries(dir: &Path) -> Vec<std::path::PathBuf> {
    // Links are not followed: the folder may be somebody's playground.
    let real = |e: &fs::DirEntry| e.file_type().is_ok_and(|t| t.is_dir());
    fs::read_dir(dir).map(|all| all.flatten().filter(real).map(|e| e.path()).collect()).unwrap_or_default()
}

fn size_of(dir: &Path) -> u64 {
    let Ok(all) = fs::read_dir(dir) else { return 0 };
    all.flatten()
        .map(|e| match e.metadata() {
            Ok(m) if m.is_dir() => size_of(&e.path()),
            Ok(m) => m.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_first_and_only_as_many_as_needed() {
        let root = tempfile::tempdir().unwrap();
        for (i, name) in ["2026-01-01/a", "2026-01-02/b", "2026-01-02/c"].iter().enumerate() {
            let dir = root.path().join(name);
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join("f"), vec![0; 1000]).unwrap();
            let when = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1000 + i as u64);
            fs::File::open(&dir).unwrap().set_modified(when).unwrap();
        }
        assert_eq!(prune_to(root.path(), 2500), 1);
        assert!(!root.path().join("2026-01-01").exists());
        assert!(root.path().join("2026-01-02/b").exists());
        assert_eq!(prune_to(root.path(), 2500), 0);
    }
}
