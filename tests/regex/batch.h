/* Many patterns through one process, for tests that compare with JavaScript. */
#pragma once

/* Reads cases from stdin, writes answers to stdout; 0 when all was read.
 *   in:  one byte of flags (ASCII digit), then sizes in decimal, each ended by a
 *        blank, of the pattern and of each subject, a newline, then their bytes
 *   out: "! BYTE SENTENCE" for a pattern refused; else a word for each subject:
 *        "-" no match, "FROM,TO" in bytes, "?" given up */
int batch_run(void);
