// Tested by test/export/export-scanner.test.ts

/** Largest accepted export after decoding, in bytes (4 GiB), unless the caller sets another limit. */
export const defaultMaxExportBytes = 4 * 1024 ** 3
