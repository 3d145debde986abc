// SPDX-License-Identifier: GPL-2.0-only

#include "loss-model.h"

#include "ns3/attribute-guard.h"
#include "ns3/double.h"
#include "ns3/random-variable-stream.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

using scaleacross::FabricPacket;

namespace
{
/// More packets than any simulation sends.
constexpr uint64_t kForever = 1'000'000'000'000'000'000;
} // namespace

// --- FabricLossModel

NS_OBJECT_ENSURE_REGISTERED(FabricLossModel);

TypeId
FabricLossModel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricLossModel").SetParent<Object>().SetGroupName("ScaleAcross");
    return tid;
}

FabricLossModel::FabricLossModel() = default;

FabricLossModel::~FabricLossModel() = default;

void
FabricLossModel::DoDispose()
{
    m_pass = kForever;
    Object::DoDispose();
}

void
FabricLossModel::Reset()
{
    m_pass = 0;
    DoReset();
}

int64_t
FabricLossModel::AssignStreams(int64_t stream)
{
    int64_t used = DoAssignStreams(stream);
    Reset();
    return used;
}

uint64_t
FabricLossModel::DrawGeometric(double p, UniformRandomVariable& random)
{
    double u = 1.0 - random.GetValue(); // in (0, 1]
    if (p >= 1.0)
    {
        return 0;
    }
    double k = p > 0.0 ? std::floor(std::log(u) / std::log1p(-p)) : static_cast<double>(kForever);
    return k < static_cast<double>(kForever) ? static_cast<uint64_t>(k) : kForever;
}

// --- IidLossModel

NS_OBJECT_ENSURE_REGISTERED(IidLossModel);

TypeId
IidLossModel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::IidLossModel")
            .SetParent<FabricLossModel>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<IidLossModel>()
            .AddAttribute("LossRate",
                          "Probability that a packet is lost.",
                          DoubleValue(0.0),
                          scaleacross::Fixed(MakeDoubleAccessor(&IidLossModel::SetLossRate,
                                                                &IidLossModel::GetLossRate)),
                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

IidLossModel::IidLossModel()
    : m_random(CreateObject<UniformRandomVariable>())
{
}

IidLossModel::~IidLossModel() = default;

void
IidLossModel::DoDispose()
{
    m_random = nullptr;
    FabricLossModel::DoDispose();
}

void
IidLossModel::SetLossRate(double loss)
{
    m_loss = loss;
    Reset();
}

double
IidLossModel::GetLossRate() const
{
    return m_loss;
}

bool
IidLossModel::DoIsLost(const FabricPacket&)
{
    // Drawn on first use, so that streams and rates may be set in any order before it.
    uint64_t gap = DrawGeometric(m_loss, *m_random);
    if (m_drawn)
    {
        PassNext(gap);
        return true;
    }
    m_drawn = true;
    if (gap > 0)
    {
        PassNext(gap - 1); // this packet is the first of the gap
        return false;
    }
    PassNext(DrawGeometric(m_loss, *m_random));
    return true;
}

void
IidLossModel::DoReset()
{
    m_drawn = false;
}

int64_t
IidLossModel::DoAssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
}

// --- GilbertElliottLossModel

NS_OBJECT_ENSURE_REGISTERED(GilbertElliottLossModel);

TypeId
GilbertElliottLossModel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::GilbertElliottLossModel")
            .SetParent<FabricLossModel>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<GilbertElliottLossModel>()
            .AddAttribute(
                "GoodToBad",
                "Probability p that a good wire is bad for the next packet.",
                DoubleValue(1e-5),
                scaleacross::Fixed(MakeDoubleAccessor(&GilbertElliottLossModel::SetGoodToBad,
                                                      &GilbertElliottLossModel::GetGoodToBad)),
                MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute(
                "BadToGood",
                "Probability r that a bad wire is good for the next packet: a stay in "
                "the bad state lasts 1 / r packets on average.",
                DoubleValue(0.1),
                scaleacross::Fixed(MakeDoubleAccessor(&GilbertElliottLossModel::SetBadToGood,
                                                      &GilbertElliottLossModel::GetBadToGood)),
                MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute(
                "LossInGood",
                "Probability that a packet is lost while the wire is good (1 - k).",
                DoubleValue(0.0),
                scaleacross::Fixed(MakeDoubleAccessor(&GilbertElliottLossModel::SetLossInGood,
                                                      &GilbertElliottLossModel::GetLossInGood)),
                MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute(
                "LossInBad",
                "Probability that a packet is lost while the wire is bad (1 - h).",
                DoubleValue(1.0),
                scaleacross::Fixed(MakeDoubleAccessor(&GilbertElliottLossModel::SetLossInBad,
                                                      &GilbertElliottLossModel::GetLossInBad)),
                MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

GilbertElliottLossModel::GilbertElliottLossModel()
    : m_random(CreateObject<UniformRandomVariable>())
{
}

GilbertElliottLossModel::~GilbertElliottLossModel() = default;

void
GilbertElliottLossModel::DoDispose()
{
    m_random = nullptr;
    FabricLossModel::DoDispose();
}

void
GilbertElliottLossModel::SetGoodToBad(double p)
{
    m_goodToBad = p;
    Reset();
}

double
GilbertElliottLossModel::GetGoodToBad() const
{
    return m_goodToBad;
}

void
GilbertElliottLossModel::SetBadToGood(double r)
{
    m_badToGood = r;
    Reset();
}

double
GilbertElliottLossModel::GetBadToGood() const
{
    return m_badToGood;
}

void
GilbertElliottLossModel::SetLossInGood(double loss)
{
    m_lossInGood = loss;
    Reset();
}

double
GilbertElliottLossModel::GetLossInGood() const
{
    return m_lossInGood;
}

void
GilbertElliottLossModel::SetLossInBad(double loss)
{
    m_lossInBad = loss;
    Reset();
}

double
GilbertElliottLossModel::GetLossInBad() const
{
    return m_lossInBad;
}

void
GilbertElliottLossModel::EnterState(bool bad)
{
    m_bad = bad;
    // The packet that brought us here meets this state, and as many more as do not end it.
    m_sojourn = 1 + DrawGeometric(bad ? m_badToGood : m_goodToBad, *m_random);
}

uint64_t
GilbertElliottLossModel::DrawGap()
{
    uint64_t gap = 0;
    while (gap < kForever)
    {
        double loss = m_bad ? m_lossInBad : m_lossInGood;
        uint64_t pass = loss > 0.0 ? DrawGeometric(loss, *m_random) : kForever;
        if (pass < m_sojourn)
        {
            m_sojourn -= pass + 1;
            gap += pass;
            if (m_sojourn == 0)
            {
                EnterState(!m_bad);
            }
            return gap;
        }
        // The state ends first. Gaps have no memory: what is left of this one may be forgotten.
        gap += m_sojourn;
        if (std::max(m_lossInGood, m_lossInBad) > 0.0)
        {
            EnterState(!m_bad);
        }
        else
        {
            gap = kForever;
        }
    }
    return kForever;
}

bool
GilbertElliottLossModel::DoIsLost(const FabricPacket&)
{
    if (m_drawn)
    {
        PassNext(DrawGap());
        return true;
    }
    m_drawn = true;
    double sum = m_goodToBad + m_badToGood;
    EnterState(sum > 0.0 && m_random->GetValue() * sum < m_goodToBad);
    uint64_t gap = DrawGap();
    if (gap > 0)
    {
        PassNext(gap - 1); // this packet is the first of the gap
        return false;
    }
    PassNext(DrawGap());
    return true;
}

void
GilbertElliottLossModel::DoReset()
{
    m_drawn = false;
}

int64_t
GilbertElliottLossModel::DoAssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
}

} // namespace ns3
