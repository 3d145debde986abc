// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_FCT_HELPER_H
#define SCALEACROSS_FABRIC_FCT_HELPER_H

#include <cstdint>
#include <memory>
#include <string>

namespace ns3
{

class FabricHelper;

/**
 * Writes when every message of a fabric began and how long it took, with its slowdown, as CSV.
 *
 * \code
 *   FabricFctHelper fct(fabric);
 *   fct.Enable("fct.csv");      // before the first message
 *   Simulator::Run();
 * \endcode
 *
 * The first line of the file is a comment that begins with #, the second one names the columns. A
 * row is written when its message is delivered:
 *
 *   start_ps, fct_ps     when it was posted (RdmaConnection::Send), and from then to the delivery
 *   bytes                payload
 *   ideal_ps, slowdown   IdealTime() of it, by the routes of when the first message of its size was
 *                        posted to its connection, and fct_ps / ideal_ps; empty if there was none
 *   source, destination  fabric addresses of the NICs
 *   label, tag           RdmaConnection::Label, quoted as RFC 4180 says, and the message's tag
 *
 * What waits behind other messages of its connection has begun all the same.
 */
class FabricFctHelper
{
  public:
    explicit FabricFctHelper(FabricHelper& fabric);
    ~FabricFctHelper();
    FabricFctHelper(const FabricFctHelper&) = delete;
    FabricFctHelper& operator=(const FabricFctHelper&) = delete;

    /**
     * Notes all messages from now on, of connections there are and of those that come. The file is
     * complete after Close, or when this helper and the fabric are gone.
     *
     * Throws ConfigError if the file cannot be written, after which it may be called again, and if
     * called twice.
     */
    void Enable(const std::string& file);

    /// Writes what is left; nothing is noted from then on.
    void Close();

    /// Messages written, and messages posted and not delivered yet; both stay after Close.
    uint64_t GetDelivered() const;
    uint64_t GetUnfinished() const;

  private:
    class Book;

    FabricHelper& m_fabric;
    std::shared_ptr<Book> m_book; //!< sinks of connections share it
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_FCT_HELPER_H
