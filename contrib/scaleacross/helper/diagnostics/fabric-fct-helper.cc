// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-fct-helper.h"

#include "core/base/csv-field.h"
#include "core/base/errors.h"

#include "ns3/fabric-helper.h"
#include "ns3/ideal-time.h"
#include "ns3/nstime.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"

#include <fstream>
#include <iomanip>
#include <map>
#include <optional>
#include <utility>

namespace ns3
{

using scaleacross::ConfigError;

/// What has been posted, and the file of what has been delivered.
class FabricFctHelper::Book
{
  public:
    std::ofstream file;
    uint64_t delivered{0};
    uint64_t unfinished{0};

    static void Watch(const std::shared_ptr<Book>& book, const Ptr<RdmaConnection>& connection)
    {
        using Sink = Callback<void, Ptr<const RdmaConnection>, uint64_t, uint64_t>;
        connection->TraceConnectWithoutContext(
            "MessagePosted",
            Sink([book](Ptr<const RdmaConnection> on, uint64_t bytes, uint64_t tag) {
                book->Begin(*on, bytes, tag);
            }));
        connection->TraceConnectWithoutContext(
            "MessageDelivered",
            Sink([book](Ptr<const RdmaConnection> on, uint64_t bytes, uint64_t tag) {
                book->Write(*on, bytes, tag);
            }));
    }

  private:
    struct Begun
    {
        Time start;
        std::optional<Time> ideal;
    };

    void Begin(const RdmaConnection& connection, uint64_t bytes, uint64_t tag)
    {
        if (!file.is_open())
        {
            return;
        }
        m_begun.emplace(std::make_pair(&connection, tag),
                        Begun{Simulator::Now(), IdealOf(connection, bytes)});
        ++unfinished;
    }

    /// None if there is no route, which the next message may have.
    std::optional<Time> IdealOf(const RdmaConnection& connection, uint64_t bytes)
    {
        const std::pair<const RdmaConnection*, uint64_t> key(&connection, bytes);
        const auto known = m_ideal.find(key);
        if (known != m_ideal.end())
        {
            return known->second;
        }
        try
        {
            return m_ideal.emplace(key, IdealTime(connection, bytes)).first->second;
        }
        catch (const ConfigError&)
        {
            return std::nullopt;
        }
    }

    void Write(const RdmaConnection& connection, uint64_t bytes, uint64_t tag)
    {
        const auto begun = m_begun.find({&connection, tag}); // the first of equal ones
        if (begun == m_begun.end() || !file.is_open())
        {
            return;
        }
        const auto [start, ideal] = begun->second;
        m_begun.erase(begun);
        --unfinished;
        ++delivered;
        const Time took = Simulator::Now() - start;
        const uint32_t from = connection.GetSender()->GetFabricAddress();
        const uint32_t to = connection.GetReceiver()->GetFabricAddress();
        file << start.GetPicoSeconds() << ',' << took.GetPicoSeconds() << ',' << bytes << ',';
        if (ideal)
        {
            file << ideal->GetPicoSeconds() << ',' << std::fixed << std::setprecision(6)
                 << took.GetSeconds() / ideal->GetSeconds();
        }
        else
        {
            file << ',';
        }
        file << ',' << from << ',' << to << ',' << scaleacross::CsvField(connection.GetLabel())
             << ',' << tag << '\n';
    }

    // By connection, which the fabric keeps, and tag or bytes.
    std::multimap<std::pair<const RdmaConnection*, uint64_t>, Begun> m_begun;
    std::map<std::pair<const RdmaConnection*, uint64_t>, Time> m_ideal;
};

FabricFctHelper::FabricFctHelper(FabricHelper& fabric)
    : m_fabric(fabric)
{
}

FabricFctHelper::~FabricFctHelper()
{
    if (m_book)
    {
        m_book->file.flush(); // connections write on
    }
}

void
FabricFctHelper::Enable(const std::string& file)
{
    if (m_book)
    {
        throw ConfigError("FabricFctHelper::Enable", "called twice", "one file", "");
    }
    const auto book = std::make_shared<Book>();
    book->file.open(file);
    book->file << "# ns3::FabricFctHelper: messages in the order of their delivery\n"
               << "start_ps,fct_ps,bytes,ideal_ps,slowdown,source,destination,label,tag\n";
    if (!book->file.flush())
    {
        throw ConfigError("FabricFctHelper::Enable",
                          "cannot write " + file,
                          "a file in a folder that exists",
                          "");
    }
    m_book = book;
    for (const Ptr<RdmaConnection>& connection : m_fabric.Connections())
    {
        Book::Watch(book, connection);
    }
    m_fabric.AddConnectionSink(
        [book](const Ptr<RdmaConnection>& connection) { Book::Watch(book, connection); });
}

void
FabricFctHelper::Close()
{
    if (m_book)
    {
        m_book->file.close();
    }
}

uint64_t
FabricFctHelper::GetDelivered() const
{
    return m_book ? m_book->delivered : 0;
}

uint64_t
FabricFctHelper::GetUnfinished() const
{
    return m_book ? m_book->unfinished : 0;
}

} // namespace ns3
