// SPDX-License-Identifier: GPL-2.0-only

// Attributes of every type of the format, written byte by byte (chakra-wire.h) by the encoding of
// protobuf: what each is worth stands beside it.

#include "chakra-wire.h"
#include "core/base/errors.h"
#include "core/io/chakra/foreign-attributes.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{
namespace
{

using testing::HasSubstr;

/// A field of wire type 1 or 5: the bytes of the value, the lowest first.
template <class Value>
std::string
Fixed(uint32_t field, Value value)
{
    std::string bytes(sizeof(value), '\0');
    std::memcpy(bytes.data(), &value, sizeof(value)); // on machines with the lowest byte first
    return Varint(field << 3 | (sizeof(value) == 8 ? 1U : 5U)) + bytes;
}

uint64_t
ZigZag(int64_t value)
{
    return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}

/// A value as one of the types has it.
struct Typed
{
    std::string type;
    std::string value;
};

/// A number in all types of numbers.
std::vector<Typed>
Numbers(int64_t value)
{
    const auto varint = static_cast<uint64_t>(value);
    return {{"double", Fixed(3, static_cast<double>(value))},
            {"float", Fixed(5, static_cast<float>(value))},
            {"int32", Number(7, varint)},
            {"int64", Number(9, varint)},
            {"uint32", Number(11, varint)},
            {"uint64", Number(13, varint)},
            {"sint32", Number(15, ZigZag(value))},
            {"sint64", Number(17, ZigZag(value))},
            {"fixed32", Fixed(19, static_cast<uint32_t>(value))},
            {"fixed64", Fixed(21, static_cast<uint64_t>(value))},
            {"sfixed32", Fixed(23, static_cast<int32_t>(value))},
            {"sfixed64", Fixed(25, value)}};
}

/// What is no whole number.
std::vector<Typed>
NoWholes()
{
    return {{"double", Fixed(3, 1.5)},
            {"double", Fixed(3, 1e300)},
            {"float", Fixed(5, 0.25F)},
            {"uint64", Number(13, UINT64_MAX)},
            {"string", Bytestring(29, "8")},
            {"bytes", Bytestring(31, "8")},
            {"bool", Number(27, 1)},
            {"int64_list", Bytestring(10, Bytestring(1, Varint(8)))},
            {"string_list", Bytestring(30, Bytestring(1, "8"))}};
}

const std::vector<std::string>&
Wholes()
{
    static const std::vector<std::string> names = {"num_ops",
                                                   "tensor_size",
                                                   "comm_type",
                                                   "comm_size",
                                                   "comm_src",
                                                   "comm_dst",
                                                   "comm_tag",
                                                   "comm_priority",
                                                   "stream",
                                                   "scaleacross.ps"};
    return names;
}

ForeignAttributes
Read(const std::string& name, const std::string& value)
{
    WireNode wire(5, kCollNode, "x");
    wire.text += Bytestring(10, Bytestring(1, name) + value);
    chakra::Node node;
    EXPECT_TRUE(node.ParseFromString(wire.text));
    return {node, "t.0.et"};
}

/// Expects that it is refused, with all that a message has to have.
void
ExpectRefused(const std::string& name, const Typed& typed, const std::string& allowed)
{
    SCOPED_TRACE(name + " as " + typed.type);
    try
    {
        Read(name, typed.value);
        ADD_FAILURE() << "it is not refused";
    }
    catch (const ConfigError& error)
    {
        EXPECT_EQ(error.Where(), "t.0.et");
        EXPECT_THAT(error.Problem(), HasSubstr("node 5 'x'"));
        EXPECT_THAT(error.Problem(),
                    HasSubstr(typed.type.empty()
                                  ? "its attribute " + name + " has no value"
                                  : "its attribute " + name + " is of type " + typed.type + ", "));
        EXPECT_THAT(error.Allowed(), HasSubstr(allowed));
        EXPECT_NE(error.Remedy(), "");
    }
}

} // namespace

TEST(ChakraAttributes, WholeNumbersAreOfAnyTypeThatHasThem)
{
    for (const std::string& name : Wholes())
    {
        for (const int64_t value : {int64_t{0}, int64_t{8}, int64_t{1} << 20})
        {
            for (const Typed& typed : Numbers(value))
            {
                EXPECT_EQ(Read(name, typed.value).Whole(name.c_str()), value)
                    << name << " " << typed.type;
            }
        }
        for (const Typed& typed : NoWholes())
        {
            ExpectRefused(name, typed, "a whole number");
        }
        ExpectRefused(name, {"", ""}, "a whole number");
        EXPECT_EQ(Read("another", Number(7, 1)).Whole(name.c_str()), std::nullopt);
    }
    EXPECT_EQ(Read("comm_tag", Number(15, ZigZag(-3))).Whole("comm_tag"), -3);
    EXPECT_EQ(Read("num_ops", Fixed(3, 1e18)).Whole("num_ops"), 1'000'000'000'000'000'000);
}

TEST(ChakraAttributes, NamesOfGroupsAreTextOrNumbers)
{
    for (const std::string name : {"pg_name", "comm_group"})
    {
        for (const Typed& typed : Numbers(12))
        {
            EXPECT_EQ(Read(name, typed.value).Name(name.c_str()), "12") << typed.type;
        }
        EXPECT_EQ(Read(name, Bytestring(29, "12")).Name(name.c_str()), "12");
        EXPECT_EQ(Read(name, Bytestring(31, "dp")).Name(name.c_str()), "dp");
        EXPECT_EQ(Read(name, Bytestring(29, "")).Name(name.c_str()), "");
        for (const Typed& typed : NoWholes())
        {
            if (typed.type != "string" && typed.type != "bytes")
            {
                ExpectRefused(name, typed, "a name, as string, or as a whole number");
            }
        }
        ExpectRefused(name, {"", ""}, "a name");
    }
}

TEST(ChakraAttributes, TruthsAreBoolOrZeroAndOne)
{
    const auto of = [](const std::string& value) {
        return Read("is_cpu_op", value).Truth("is_cpu_op");
    };
    EXPECT_EQ(of(Number(27, 0)), false);
    EXPECT_EQ(of(Number(27, 1)), true);
    for (const bool value : {false, true})
    {
        for (const Typed& typed : Numbers(value ? 1 : 0))
        {
            EXPECT_EQ(of(typed.value), value) << typed.type;
        }
    }
    for (const Typed& typed : Numbers(2))
    {
        ExpectRefused("is_cpu_op", typed, "0 or 1");
    }
    for (const Typed& typed : NoWholes())
    {
        if (typed.type != "bool")
        {
            ExpectRefused("is_cpu_op", typed, "true or false");
        }
    }
    ExpectRefused("is_cpu_op", {"", ""}, "true or false");
}

TEST(ChakraAttributes, DimensionsAreListsOfTruths)
{
    const std::string packed = Varint(1) + Varint(0) + Varint(1);
    EXPECT_EQ(Read("involved_dim", Bytestring(28, Bytestring(1, packed))).Truths("involved_dim"),
              (std::vector<bool>{true, false, true}));
    for (const Typed& typed : NoWholes())
    {
        ExpectRefused("involved_dim", typed, "bool_list");
    }
    for (const Typed& typed : Numbers(1))
    {
        ExpectRefused("involved_dim", typed, "bool_list");
    }
}

TEST(ChakraAttributes, OthersAreNamedUnlessTheyChangeNothing)
{
    EXPECT_THAT(Read("pg_nam", Bytestring(29, "1")).Unknown(), testing::ElementsAre("pg_nam"));
    EXPECT_EQ(NearestAttribute("pg_nam"), "pg_name");
    for (const std::string name : {"rf_id", "op_schema", "op_type", "inputs", "scaleacross.do"})
    {
        EXPECT_THAT(Read(name, Bytestring(29, "1")).Unknown(), testing::IsEmpty()) << name;
    }
}

} // namespace scaleacross
