// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/database.h"

#include "core/base/errors.h"
#include "core/store/schema.h"

#include <SQLiteCpp/Exception.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sqlite3.h>
#include <thread>
#include <unistd.h>

namespace scaleacross
{

namespace
{

/// "SCLA": marks a file as ours (PRAGMA application_id).
constexpr int g_applicationId = 0x53434c41;

/// A path as SQLite takes it for one: names that begin with "file:" are URIs to it, and ":memory:"
/// is no file.
std::string
PlainPath(const std::string& path)
{
    const bool special = path.rfind("file:", 0) == 0 || path.rfind(':', 0) == 0;
    return special ? "./" + path : path;
}

/// A URI of the file, in which "%", "?" and "#" have to be escaped.
std::string
UriOf(const std::filesystem::path& path)
{
    std::string uri = "file:";
    for (const char c : path.string())
    {
        uri += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
    }
    return uri;
}

SQLite::Database
OpenFile(const std::string& path, Database::Access access, Duration patience)
{
    const auto milliseconds = static_cast<int>(patience.Ps() / 1'000'000'000);
    if (access == Database::Access::Write)
    {
        return {PlainPath(path), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, milliseconds};
    }
    // A database without a log beside it cannot change while its folder cannot be written: SQLite
    // reads it there only if told so.
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::path file = fs::absolute(path, ignored).lexically_normal();
    const bool writable = ::access(file.parent_path().c_str(), W_OK) == 0;
    if (!writable && fs::exists(path, ignored) && !fs::exists(path + "-wal", ignored))
    {
        return {UriOf(file) + "?immutable=1",
                SQLite::OPEN_READONLY | SQLite::OPEN_URI,
                milliseconds};
    }
    return {PlainPath(path), SQLite::OPEN_READONLY, milliseconds};
}

/// What SQLite says on opening, in terms of what the user can do.
[[noreturn]] void
ExplainOpening(const std::string& path, Database::Access access, const SQLite::Exception& error)
{
    const std::string said = std::string(" (SQLite: ") + error.what() + ")";
    switch (error.getErrorCode())
    {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        throw ConfigError(path,
                          "the file is not a database, or a damaged one" + said,
                          "an SQLite database written by scaleacross",
                          "choose another --db; the file has not been changed");
    case SQLITE_CANTOPEN:
        if (access == Database::Access::Read)
        {
            throw ConfigError(path, "the database cannot be opened" + said, "a readable file", "");
        }
        throw ConfigError(path,
                          "the database can neither be opened nor created" + said,
                          "a file in an existing folder that you may write to",
                          "choose another --db");
    case SQLITE_READONLY:
    case SQLITE_PERM:
        throw ConfigError(path,
                          "the database cannot be written" + said,
                          "a file and folder that you may write to",
                          "choose another --db");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        throw ConfigError(path,
                          "another process keeps the database locked" + said,
                          "a database that nobody writes for long",
                          "wait for the other process, or choose another --db");
    default:
        throw ConfigError(path, "the database cannot be used" + said, "", "choose another --db");
    }
}

} // namespace

Database::Database(const std::string& path, Access access, Duration patience)

try : m_path(path), m_database(OpenFile(path, access, patience))
{
    OpenPatiently(access, patience);
}

catch (const SQLite::Exception& error)
{
    // Members are gone here: `path` is still alive.
    ExplainOpening(path, access, error);
}

void
Database::OpenPatiently(Access access, Duration patience)
{
    // SQLite does not wait by itself where two processes switch a new file to a log at once: one of
    // them is told at once that the file is busy.
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::nanoseconds(patience.Ps() / 1000);
    while (true)
    {
        try
        {
            Open(access);
            return;
        }
        catch (const SQLite::Exception& error)
        {
            m_database.tryExec("ROLLBACK");
            const int code = error.getErrorCode();
            if ((code != SQLITE_BUSY && code != SQLITE_LOCKED) || Clock::now() >= until)
            {
                throw;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

void
Database::Open(Access access)
{
    Execute("PRAGMA foreign_keys = ON");
    // One state of the file: another process may be creating it at this moment.
    Execute("BEGIN");
    const int version = Number("user_version");
    const int application = Number("application_id");
    const bool empty = m_database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
    Execute("COMMIT");
    if (application != g_applicationId && !(empty && application == 0 && version == 0))
    {
        throw ConfigError(m_path,
                          "this is an SQLite database of another program",
                          "a database written by scaleacross, or a new file",
                          "choose another --db");
    }
    if (version > kSchemaVersion)
    {
        throw ConfigError(m_path,
                          "the database has schema " + std::to_string(version) +
                              ", written by a newer release",
                          "schema " + std::to_string(kSchemaVersion) + " or older",
                          "update scaleacross or choose another --db");
    }
    if (access == Access::Write)
    {
        Execute("PRAGMA journal_mode = WAL");
        Execute("PRAGMA synchronous = NORMAL");
        Migrate();
    }
    else if (version < kSchemaVersion)
    {
        throw ConfigError(m_path,
                          empty ? "the database is empty"
                                : "the database has the older schema " + std::to_string(version),
                          "schema " + std::to_string(kSchemaVersion),
                          "run explore or run with this --db, which brings it up to date");
    }
}

void
Database::Migrate()
{
    if (Number("user_version") == kSchemaVersion)
    {
        return;
    }
    for (size_t i = 0; i < Migrations().size(); i++)
    {
        InTransaction([this, i] {
            // Another process may have been faster: ask again now that the lock is held.
            if (Number("user_version") != static_cast<int>(i))
            {
                return;
            }
            Execute(Migrations()[i]);
            Execute("PRAGMA application_id = " + std::to_string(g_applicationId));
            Execute("PRAGMA user_version = " + std::to_string(i + 1));
        });
    }
}

int
Database::Number(const std::string& pragma)
{
    return m_database.execAndGet(("PRAGMA " + pragma).c_str()).getInt();
}

void
Database::Execute(const std::string& sql)
{
    m_database.exec(sql);
}

SQLite::Statement&
Database::Prepare(const std::string& sql)
{
    auto found = m_statements.find(sql);
    if (found == m_statements.end())
    {
        found = m_statements.emplace(sql, SQLite::Statement(m_database, sql)).first;
    }
    found->second.reset();
    found->second.clearBindings();
    return found->second;
}

void
Database::Run(SQLite::Statement& statement)
{
    statement.exec();
    statement.reset();
}

int64_t
Database::LastInsertId() const
{
    return m_database.getLastInsertRowid();
}

void
Database::InTransaction(const std::function<void()>& work)
{
    Execute("BEGIN IMMEDIATE");
    try
    {
        work();
        Execute("COMMIT");
    }
    catch (...)
    {
        m_database.tryExec("ROLLBACK");
        throw;
    }
}

void
Database::Transact(const std::function<void()>& work)
{
    try
    {
        InTransaction(work);
    }
    catch (const SQLite::Exception& error)
    {
        throw RunError(m_path + ": " + error.what());
    }
}

bool
Database::IsDatabase(const std::string& path)
{
    const std::string magic("SQLite format 3\0", 16);
    std::string begin(magic.size(), ' ');
    std::ifstream file(path, std::ios::binary);
    return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == magic;
}

} // namespace scaleacross
