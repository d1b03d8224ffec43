//! Result tables as Parquet files, in folders that appear and change as a whole.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

use crate::checksums::manifest_text;
use crate::run::Output;
use crate::tables::Table;

/// Writes each table to `NAME.parquet` in `folder`, compressed, with the meaning and unit of each column, and waits until
/// the disk has them.
///
/// # Errors
/// If a file cannot be created or written.
pub fn write(tables: &[Table], folder: &Path) -> io::Result<()> {
    // Together: to wait for the disk takes far longer than to write a small table.
    thread::scope(|scope| {
        let writers = tables.iter().map(|table| {
            let path = folder.join(format!("{}.parquet", table.name));
            thread::Builder::new().spawn_scoped(scope, move || write_table(table, &path))
        });
        let writers: Vec<_> = writers.collect();
        writers.into_iter().try_for_each(|writer| writer?.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

const MANIFEST: &str = "manifest.json";

/// Writes a run's tables and its manifest, which has their checksums, into `folder`, which is created if it does not exist. The
/// files are complete and on the disk before `folder` has them; an earlier run's folder is replaced in one step, so that
/// whatever ends the process leaves the earlier run or this one. Where other files stand in `folder`, which stay, and where the
/// file system has no such step, results come one by one, the manifest first: whatever ends the process then leaves the earlier
/// run, this one, or files whose checksums differ from the manifest's.
///
/// # Errors
/// If the folder or a file cannot be created or written.
pub fn save(output: &Output, folder: &Path) -> io::Result<()> {
    save_by(exchange, output, folder)
}

fn save_by(swap: impl Fn(&Path, &Path) -> io::Result<()>, output: &Output, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    let own = |name: &str| name == MANIFEST || tables_of(output).any(|table| table == name);
    let mut others = false;
    for entry in fs::read_dir(&folder)? {
        others |= !entry?.file_name().to_str().is_some_and(own);
    }
    let place = if others { &folder } else { folder.parent().unwrap_or(&folder) };
    let staging = fill(output, place)?;
    if others {
        return move_files(output, staging.path(), &folder);
    }
    if swap(staging.path(), &folder).is_err() {
        // The folder may be on another file system than its place.
        drop(staging);
        let staging = fill(output, &folder)?;
        return move_files(output, staging.path(), &folder);
    }
    sync_folder(&folder)?;
    sync_folder(place)
}

/// A folder in `place` with a run's files, all of which the disk has.
fn fill(output: &Output, place: &Path) -> io::Result<TempDir> {
    let staging = tempfile::Builder::new()
        .prefix(".xoff-")
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(place)?;
    write(&output.tables, staging.path())?;
    let tables: Vec<_> = tables_of(output).map(|name| staging.path().join(name)).collect();
    let text = manifest_text(&output.manifest, tables.iter().map(PathBuf::as_path))?;
    let mut manifest = File::create(staging.path().join(MANIFEST))?;
    manifest.write_all(text.as_bytes())?;
    manifest.sync_all()?;
    sync_folder(staging.path())?;
    Ok(staging)
}

/// The names of a run's tables.
fn tables_of(output: &Output) -> impl Iterator<Item = String> {
    output.tables.iter().map(|table| format!("{}.parquet", table.name))
}

/// Moves a run's files, one by one: with the new checksums, tables of an earlier run are not read as this one's.
fn move_files(output: &Output, from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from.join(MANIFEST), to.join(MANIFEST))?;
    sync_folder(to)?;
    for name in tables_of(output) {
        fs::rename(from.join(&name), to.join(&name))?;
    }
    sync_folder(to)
}

/// Swaps two folders in one step: at any time each name has one of them or the other.
///
/// # Errors
/// If one of them does not exist or cannot be renamed, or the file system has no such step.
pub fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

/// Waits until the disk has the names in `folder`.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn write_table(table: &Table, path: &Path) -> io::Result<()> {
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let plain = |error: ParquetError| match error {
        ParquetError::External(cause) => cause.downcast().map_or_else(io::Error::other, |cause| *cause),
        other => io::Error::other(other),
    };
    let file = File::create(path)?;
    let mut writer =
        ArrowWriter::try_new(file.try_clone()?, table.batch.schema(), Some(properties)).map_err(plain)?;
    writer.write(&table.batch).map_err(plain)?;
    writer.close().map_err(plain)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    #[test]
    fn files_come_one_by_one_where_folders_cannot_be_swapped() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("out");
        let no_swap = |_: &Path, _: &Path| Err(io::ErrorKind::Unsupported.into());
        for seed in [1, 2] {
            let text = format!(
                "seed = {seed}\ntopology = {{ name = \"star\", hosts = 2 }}\nscheme = {{ name = \"none\" }}\n\
                 traffic = [{{ pattern = \"flow\", src = \"host0\", dst = \"host1\", size = \"1KB\" }}]"
            );
            let scenario = Scenario::parse(&text, "small.toml", &[]).unwrap();
            let output = crate::run::run(&scenario, &mut |_| true).unwrap();
            save_by(no_swap, &output, &folder).unwrap();
            let text = fs::read_to_string(folder.join(MANIFEST)).unwrap();
            let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(manifest["seed"], seed);
            let files: Vec<_> =
                fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(files.len(), output.tables.len() + 1, "{files:?}");
        }
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}
