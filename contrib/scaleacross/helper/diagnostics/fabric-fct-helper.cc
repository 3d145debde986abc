// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-fct-helper.h"

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
#include <tuple>
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
            Sink([book](Ptr<const RdmaConnection> on, uint64_t, uint64_t tag) {
                book->m_begun.emplace(std::make_pair(PeekPointer(on), tag), Simulator::Now());
                ++book->unfinished;
            }));
        connection->TraceConnectWithoutContext(
            "MessageDelivered",
            Sink([book](Ptr<const RdmaConnection> on, uint64_t bytes, uint64_t tag) {
                book->Write(*on, bytes, tag);
            }));
    }

  private:
    void Write(const RdmaConnection& connection, uint64_t bytes, uint64_t tag)
    {
        const auto begun = m_begun.find({&connection, tag}); // the first of equal ones
        if (begun == m_begun.end() || !file.is_open())
        {
            return;
        }
        const Time start = begun->second;
        m_begun.erase(begun);
        --unfinished;
        ++delivered;
        const Time took = Simulator::Now() - start;
        const uint32_t from = connection.GetSender()->GetFabricAddress();
        const uint32_t to = connection.GetReceiver()->GetFabricAddress();
        const auto [ideal, added] = m_ideal.try_emplace({from, to, bytes, connection.GetLabel()});
        if (added)
        {
            ideal->second = IdealTime(connection, bytes);
        }
        file << start.GetPicoSeconds() << ',' << took.GetPicoSeconds() << ',' << bytes << ','
             << ideal->second.GetPicoSeconds() << ',' << std::fixed << std::setprecision(6)
             << took.GetSeconds() / ideal->second.GetSeconds() << ',' << from << ',' << to << ','
             << connection.GetLabel() << ',' << tag << '\n';
    }

    std::multimap<std::pair<const RdmaConnection*, uint64_t>, Time> m_begun;
    /// By sender, receiver, bytes and label: connections that are made alike.
    std::map<std::tuple<uint32_t, uint32_t, uint64_t, std::string>, Time> m_ideal;
};

FabricFctHelper::FabricFctHelper(FabricHelper& fabric)
    : m_fabric(fabric)
{
}

FabricFctHelper::~FabricFctHelper()
{
    Close();
}

void
FabricFctHelper::Enable(const std::string& file)
{
    if (m_book)
    {
        throw ConfigError("FabricFctHelper::Enable", "called twice", "one file", "");
    }
    m_book = std::make_shared<Book>();
    m_book->file.open(file);
    m_book->file << "# ns3::FabricFctHelper: messages in the order of their delivery\n"
                 << "start_ps,fct_ps,bytes,ideal_ps,slowdown,source,destination,label,tag\n";
    if (!m_book->file)
    {
        throw ConfigError("FabricFctHelper::Enable",
                          "cannot write " + file,
                          "a file in a folder that exists",
                          "");
    }
    for (const Ptr<RdmaConnection>& connection : m_fabric.Connections())
    {
        Book::Watch(m_book, connection);
    }
    m_fabric.AddConnectionSink(
        [book = m_book](const Ptr<RdmaConnection>& connection) { Book::Watch(book, connection); });
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
