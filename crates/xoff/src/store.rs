//! Result tables as Parquet files, in folders that appear and change as a whole.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use rustix::fs::{CWD, RenameFlags, renameat_with};

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

/// Writes a run's tables and its manifest into `folder`, which is created if it does not exist. The files are complete and
/// on the disk before `folder` has them; an earlier run's folder is replaced in one step, so that whatever ends the process
/// leaves the earlier run or this one. Other files in `folder` stay, and results then come one by one, the manifest last.
///
/// # Errors
/// If the folder or a file cannot be created or written.
pub fn save(output: &Output, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    let own =
        |name: &str| name == MANIFEST || output.tables.iter().any(|t| format!("{}.parquet", t.name) == name);
    let mut others = false;
    for entry in fs::read_dir(&folder)? {
        others |= !entry?.file_name().to_str().is_some_and(own);
    }
    let place = if others { &folder } else { folder.parent().unwrap_or(&folder) };
    let staging = tempfile::Builder::new()
        .prefix(".xoff-")
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(place)?;
    write(&output.tables, staging.path())?;
    let mut manifest = File::create(staging.path().join(MANIFEST))?;
    manifest.write_all(format!("{:#}\n", output.manifest).as_bytes())?;
    manifest.sync_all()?;
    sync_folder(staging.path())?;
    if others {
        match fs::remove_file(folder.join(MANIFEST)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let tables = output.tables.iter().map(|table| format!("{}.parquet", table.name));
        for name in tables.chain([MANIFEST.to_string()]) {
            fs::rename(staging.path().join(&name), folder.join(&name))?;
        }
    } else {
        exchange(staging.path(), &folder)?;
    }
    sync_folder(&folder)?;
    sync_folder(place)
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
