// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/database.h"

#include "core/base/errors.h"
#include "core/base/input-files.h"
#include "core/store/schema.h"

#include <SQLiteCpp/Exception.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sqlite3.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace scaleacross
{

namespace
{

/// "SCLA": marks a file as ours (PRAGMA application_id).
constexpr int g_applicationId = 0x53434c41;

/// What to do with a file that lacks what this release writes.
const char* const g_bringUp = "run explore or run with this --db, which brings it up to date";

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
    // Only a connection that may write removes the log and its index when the last one closes. It
    // creates nothing, Open() has it change nothing, and where the file cannot be written SQLite
    // opens it to read.
    return {PlainPath(path), SQLite::OPEN_READWRITE, milliseconds};
}

[[noreturn]] void
CannotCreate(const std::string& path, const std::string& said)
{
    throw ConfigError(path,
                      "the database can neither be opened nor created" + said,
                      "a file in an existing folder that you may write to",
                      "choose another --db");
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
        CannotCreate(path, said);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_FULL:
    case SQLITE_IOERR:
        throw ConfigError(path,
                          "the database cannot be written" + said,
                          "a file and folder that you may write to, on a disk with room",
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
    : Database(path, access, patience, Schema::Current())
{
}

Database::Database(const std::string& path, Access access, Duration patience, const Schema& schema)

try : m_path(path), m_schema(schema), m_database(OpenFile(path, access, patience))
{
    if (access == Access::Read)
    {
        NoteInputDatabase(path);
    }
    Identify();
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
    if (access == Access::Read)
    {
        Execute("PRAGMA query_only = ON");
    }
    // One state of the file: another process may be creating it at this moment.
    Execute("BEGIN");
    const int64_t version = Pragma("user_version");
    const int64_t application = Pragma("application_id");
    const bool empty = m_database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
    Execute("COMMIT");
    if (application != g_applicationId && !(empty && application == 0 && version == 0))
    {
        throw ConfigError(m_path,
                          "this is an SQLite database of another program",
                          "a database written by scaleacross, or a new file",
                          "choose another --db");
    }
    if (version > m_schema.Version())
    {
        throw ConfigError(m_path,
                          "the database has schema " + std::to_string(version) +
                              ", written by a newer release",
                          "schema " + std::to_string(m_schema.Version()) + " or older",
                          "update scaleacross or choose another --db");
    }
    if (access == Access::Write)
    {
        if (empty)
        {
            // Only before there is a first page.
            Execute("PRAGMA auto_vacuum = INCREMENTAL");
        }
        Execute("PRAGMA journal_mode = WAL");
        Execute("PRAGMA synchronous = NORMAL");
        Migrate();
        AddColumns();
        PutViews();
    }
    else if (version < m_schema.Version())
    {
        throw ConfigError(m_path,
                          empty ? "the database is empty"
                                : "the database has the older schema " + std::to_string(version),
                          "schema " + std::to_string(m_schema.Version()),
                          g_bringUp);
    }
    CheckColumns();
}

void
Database::Migrate()
{
    if (Pragma("user_version") == m_schema.Version())
    {
        return;
    }
    for (size_t i = 0; i < m_schema.Migrations().size(); i++)
    {
        InTransaction([this, i] {
            // Another process may have been faster: ask again now that the lock is held.
            if (Pragma("user_version") != static_cast<int64_t>(i))
            {
                return;
            }
            // Views that name what it changes would be in its way.
            for (const auto& [name, statement] : Views())
            {
                Execute("DROP VIEW IF EXISTS " + name);
            }
            Execute(m_schema.Migrations()[i]);
            Execute("PRAGMA application_id = " + std::to_string(g_applicationId));
            Execute("PRAGMA user_version = " + std::to_string(i + 1));
        });
    }
}

int64_t
Database::Pragma(const std::string& name)
{
    return m_database.execAndGet(("PRAGMA " + name).c_str()).getInt64();
}

void
Database::Damaged(const std::string& what) const
{
    throw ConfigError(m_path,
                      "the database is damaged or was changed by another program: " + what,
                      "a database as scaleacross writes it",
                      "take a copy from before, or choose another --db");
}

void
Database::AddColumns()
{
    const auto add = [this] {
        const auto found = ColumnsOf(m_database);
        std::string sql;
        for (const TableColumn& column : m_schema.Added())
        {
            // Of a table that is missing CheckColumns() tells.
            const auto first = found.lower_bound({column.first, ""});
            const bool hasTable = first != found.end() && first->first == column.first;
            if (hasTable && found.count(column) == 0)
            {
                // Numbers are kept as such whoever binds them as what.
                sql += "ALTER TABLE " + column.first + " ADD COLUMN \"" + column.second +
                       "\" NUMERIC;";
            }
        }
        return sql;
    };
    if (!add().empty())
    {
        // Another process may have been faster: ask again now that the lock is held.
        InTransaction([&] { Execute(add()); });
    }
}

void
Database::PutViews()
{
    const auto put = [this] {
        std::string sql;
        for (const auto& [name, statement] : Views())
        {
            auto& select =
                Prepare("SELECT sql FROM sqlite_master WHERE type = 'view' AND name = ?");
            select.bind(1, name);
            const std::string found = select.executeStep() ? select.getColumn(0).getString() : "";
            select.reset();
            if (found != statement)
            {
                sql += "DROP VIEW IF EXISTS " + name + ";" + statement + ";";
            }
        }
        return sql;
    };
    if (!put().empty())
    {
        // Another process may have been faster: ask again now that the lock is held.
        InTransaction([&] { Execute(put()); });
    }
}

void
Database::CheckColumns()
{
    const auto found = ColumnsOf(m_database);
    for (const auto& [table, column] : m_schema.Columns())
    {
        if (found.count({table, column}) == 0)
        {
            Damaged("the table " + table + " has no column " + column);
        }
    }
    for (const auto& [table, column] : m_schema.Added())
    {
        if (found.count({table, column}) == 0)
        {
            throw ConfigError(m_path,
                              "the database is of an older release: the table " + table +
                                  " has no column " + column,
                              "what this release writes",
                              g_bringUp);
        }
    }
}

void
Database::Identify()
{
    struct stat file = {};
    if (stat(m_path.c_str(), &file) == 0)
    {
        m_device = file.st_dev;
        m_inode = file.st_ino;
    }
}

void
Database::CheckStillThere() const
{
    struct stat now = {};
    if (stat(m_path.c_str(), &now) != 0 || now.st_dev != m_device || now.st_ino != m_inode)
    {
        throw RunError(m_path + ": the database was deleted or replaced while it was in use; what "
                                "was found since then is not stored. Start the command again");
    }
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
    Explained([&] { InTransaction(work); });
    CheckStillThere();
}

void
Database::Snapshot(const std::function<void()>& work)
{
    Explained([&] {
        Execute("SAVEPOINT snapshot");
        try
        {
            work();
        }
        catch (...)
        {
            m_database.tryExec("RELEASE snapshot");
            throw;
        }
        Execute("RELEASE snapshot");
    });
}

void
Database::Explained(const std::function<void()>& work) const
{
    try
    {
        work();
    }
    catch (const SQLite::Exception& error)
    {
        const std::string said = std::string(" (SQLite: ") + error.what() + ")";
        switch (error.getErrorCode())
        {
        case SQLITE_FULL:
            throw RunError(m_path + ": the disk is full" + said +
                           "; what was committed before is kept. Make room, then repeat the "
                           "command, which goes on from there");
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            throw RunError(m_path + ": another process keeps the database locked" + said +
                           ". Wait for it, then repeat the command, which goes on from here");
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_NOMEM:
            CheckStillThere();
            throw RunError(m_path + ": the database cannot be used any more" + said +
                           "; what was committed before is kept. Repeat the command when the disk "
                           "and folder can be written, or choose another --db");
        default:
            Damaged(error.what());
        }
    }
}

void
Database::ExpectCreatable(const std::string& path)
{
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path folder = fs::absolute(PlainPath(path), error).parent_path();
    std::error_code name; // too long, or a ring of links
    const bool there = fs::exists(PlainPath(path), name);
    if (!fs::is_directory(folder, error) || ::access(folder.c_str(), W_OK | X_OK) != 0 ||
        (!there && name))
    {
        CannotCreate(path, name ? name.message() : "");
    }
}

void
Database::ReturnSpace()
{
    // What cannot be given back now is used by later rows, or given back the next time.
    m_database.tryExec("PRAGMA incremental_vacuum");
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
