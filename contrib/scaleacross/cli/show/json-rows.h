// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_JSON_ROWS_H
#define SCALEACROSS_JSON_ROWS_H

#include "cli/show/report-json.h"

#include <string>

namespace scaleacross
{

/**
 * A JSON array of objects as comma-separated values: a row for each behind a row of names, in the
 * order in which they first come. What lies deeper has its way as its name,
 * `classes.dp.exposed_s`; a list is one cell of JSON. Numbers are written as in JSON; null, and
 * what a row does not have, is empty.
 */
std::string CsvOfRows(const Json& rows);

} // namespace scaleacross

#endif // SCALEACROSS_JSON_ROWS_H
