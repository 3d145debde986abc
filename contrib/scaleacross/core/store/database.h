// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_DATABASE_H
#define SCALEACROSS_DATABASE_H

#include "core/base/units.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace scaleacross
{

class Schema;

/**
 * A database of results: SQLite with a write-ahead log and foreign keys.
 *
 * Opening to write creates the file if need be and brings an older schema up to date, one
 * transaction per version. Several processes may have it open, and writers wait for each other.
 *
 * Throws ConfigError (where = path) for a file that is no such database, one of a newer schema, a
 * folder that cannot be written, one that lacks a table or column, and one that another process
 * keeps locked; RunError if a transaction fails later on, or the file has been deleted or replaced
 * by then.
 */
class Database
{
  public:
    enum class Access
    {
        Write,
        Read //!< never creates, never migrates; works on read-only media
    };

    /// @param patience how long to wait for another process before giving up
    Database(const std::string& path,
             Access access,
             Duration patience = Duration::Microseconds(10'000'000));

    /// The same of a program with another schema, which has to outlive it.
    Database(const std::string& path, Access access, Duration patience, const Schema& schema);

    const std::string& Path() const
    {
        return m_path;
    }

    /// Statements without results, separated by semicolons.
    void Execute(const std::string& sql);

    /// The statement for this text, reset and without bindings; prepared once and kept.
    SQLite::Statement& Prepare(const std::string& sql);

    /// Runs a prepared statement that gives no rows.
    static void Run(SQLite::Statement& statement);

    int64_t LastInsertId() const;

    /// A whole number that SQLite knows of the file, such as "data_version".
    int64_t Pragma(const std::string& name);

    /// Throws the ConfigError for a file that holds what no release has written.
    [[noreturn]] void Damaged(const std::string& what) const;

    /// Runs `work` in one transaction that takes the write lock at once; rolled back if it throws.
    /// Explained().
    void Transact(const std::function<void()>& work);

    /// Calls `work`, which reads one state of the file whatever others write meanwhile; may be
    /// nested and stand inside Transact(). Explained().
    void Snapshot(const std::function<void()>& work);

    /**
     * Calls `work`, which reads; what SQLite throws in it leaves as an error with the path and what
     * to do: a ConfigError where the file is damaged or holds what no release has written, a
     * RunError where something around it is in the way (disk, locks, rights).
     */
    void Explained(const std::function<void()>& work) const;

    /// Gives pages without rows back to the file system, as far as nobody else is in the way;
    /// outside of transactions.
    void ReturnSpace();

    /// Whether a file begins like an SQLite database.
    static bool IsDatabase(const std::string& path);

    /// Throws the ConfigError of opening it to write for a path at which no file can be created;
    /// does not create it.
    static void ExpectCreatable(const std::string& path);

  private:
    /// Open(), again and again while somebody else is creating the file, for as long as `patience`.
    void OpenPatiently(Access access, Duration patience);
    void Open(Access access);
    void Migrate();
    void AddColumns();
    void PutViews();
    void CheckColumns();
    /// Remembers which file was opened.
    void Identify();
    void CheckStillThere() const;
    void InTransaction(const std::function<void()>& work);

    std::string m_path;
    const Schema& m_schema;
    SQLite::Database m_database;
    std::map<std::string, SQLite::Statement> m_statements;
    uint64_t m_device{0}; //!< of the file that was opened
    uint64_t m_inode{0};  //!< likewise
};

} // namespace scaleacross

#endif // SCALEACROSS_DATABASE_H
