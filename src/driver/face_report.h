/* The inside of rein.h's report, for the face's own files. */
#pragma once

#include "driver/driver.h"

/* Made before a run starts, so that an outcome can always be told; NULL: no memory. */
struct rein_report *face_report_new(void);
/* Texts for which there is no memory stay empty; the outcome is always right. */
void face_report_fill(struct rein_report *report, const struct run *run, enum rein_lang lang);
/* The JSON object, terminated; borrowed. */
struct str face_report_line(const struct rein_report *report);
int64_t face_cost(int64_t pico); /* micro-dollars, rounded up; -1 stays */
struct rein_usage face_usage(const struct usage *usage);
