//! Result tables as Parquet files.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::run::Output;
use crate::tables::Table;

/// Writes each table to `NAME.parquet` in `folder`, compressed, with the meaning and unit of each column.
///
/// # Errors
/// If a file cannot be created or written.
pub fn write(tables: &[Table], folder: &Path) -> io::Result<()> {
    tables.iter().try_for_each(|table| write_table(table, &folder.join(format!("{}.parquet", table.name))))
}

/// Writes a run's tables and its manifest into `folder`, which is created if it does not exist. The manifest is written
/// last, so a folder with a manifest holds a complete run.
///
/// # Errors
/// If the folder or a file cannot be created or written.
pub fn save(output: &Output, folder: &Path) -> io::Result<()> {
    let manifest = folder.join("manifest.json");
    fs::create_dir_all(folder)?;
    match fs::remove_file(&manifest) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    write(&output.tables, folder)?;
    fs::write(manifest, format!("{:#}\n", output.manifest))
}

fn write_table(table: &Table, path: &Path) -> io::Result<()> {
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let plain = |error: ParquetError| match error {
        ParquetError::External(cause) => cause.downcast().map_or_else(io::Error::other, |cause| *cause),
        other => io::Error::other(other),
    };
    let mut writer =
        ArrowWriter::try_new(File::create(path)?, table.batch.schema(), Some(properties)).map_err(plain)?;
    writer.write(&table.batch).map_err(plain)?;
    writer.close().map_err(plain)?;
    Ok(())
}
