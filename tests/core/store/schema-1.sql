-- SPDX-License-Identifier: GPL-2.0-only
-- A database of schema version 1, as release 0.1.0 writes it, by .dump of sqlite3, which leaves two
-- numbers out; with fixed dates and fingerprints. Of two buildings of four GPUs: explore --keep 2
-- --pareto time,memory --verify 0 --set cluster.cross.distance=20km, and an all-reduce of 1 MiB.
PRAGMA application_id = 1396919361;
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE scenario (
    id               INTEGER PRIMARY KEY,
    hash             TEXT NOT NULL UNIQUE,
    text             TEXT NOT NULL,
    study            TEXT NOT NULL,
    distance_km      REAL,
    capacity_bps     REAL,
    loss             REAL,
    oversubscription REAL
);
INSERT INTO scenario VALUES(1,'58585f19-d7f3-58c7-a911-59d986341946','{"model":{"layers":4,"hidden":256,"heads":4,"kv_heads":4,"head_dim":64,"dense_ffn":1024,"vocabulary":1024},"workload":{"sequence":512,"global_batch":16,"stack":{}},"cluster":{"buildings":[{"name":"building1","gpus":4,"gpus_per_node":2,"gpu":{"architecture":"hopper","bf16_peak":"989TFLOP/s","fp8_peak":"1.979PFLOP/s","hbm_capacity":"81559MiB","hbm_reserve":"6GiB","hbm_bandwidth":"26.8Tbps","scale_up_bandwidth":"3.6Tbps","scale_up_latency":"1900ns","nic_rate":"400Gbps","host_bandwidth":"440Gbps","gemm_efficiency":0.67,"fp8_efficiency":0.57,"attention_efficiency":0.7,"kernel_gap":"2us","hbm_efficiency":0.8,"scale_up_efficiency":0.82,"switch_reduction":0.74,"processors":132,"collective_processors":20,"gemm_depth":16,"tiles":"256x128 1, 128x256 1, 128x128 0.92, 128x64 0.8, 64x64 0.65"},"fabric":{}},{"name":"building2","gpus":4,"gpus_per_node":2,"gpu":{"architecture":"hopper","bf16_peak":"989TFLOP/s","fp8_peak":"1.979PFLOP/s","hbm_capacity":"81559MiB","hbm_reserve":"6GiB","hbm_bandwidth":"26.8Tbps","scale_up_bandwidth":"3.6Tbps","scale_up_latency":"1900ns","nic_rate":"400Gbps","host_bandwidth":"440Gbps","gemm_efficiency":0.67,"fp8_efficiency":0.57,"attention_efficiency":0.7,"kernel_gap":"2us","hbm_efficiency":0.8,"scale_up_efficiency":0.82,"switch_reduction":0.74,"processors":132,"collective_processors":20,"gemm_depth":16,"tiles":"256x128 1, 128x256 1, 128x128 0.92, 128x64 0.8, 64x64 0.65"},"fabric":{}}],"links":[{"between":["building1","building2"],"distance":"20km","capacity":"400Gbps"}]},"network":{}}','{"model":{"name":"tiny","layers":4,"hidden":256,"heads":4,"kv_heads":4,"head_dim":64,"dense_ffn":1024,"vocabulary":1024},"workload":{"sequence":512,"global_batch":16,"stack":{}},"cluster":{"buildings":[{"name":"building1","gpus":4,"gpus_per_node":2,"gpu":{"name":"h100","architecture":"hopper","bf16_peak":"989TFLOP/s","fp8_peak":"1.979PFLOP/s","hbm_capacity":"81559MiB","hbm_reserve":"6GiB","hbm_bandwidth":"26.8Tbps","scale_up_bandwidth":"3.6Tbps","scale_up_latency":"1900ns","nic_rate":"400Gbps","host_bandwidth":"440Gbps","gemm_efficiency":0.67,"fp8_efficiency":0.57,"attention_efficiency":0.7,"kernel_gap":"2us","hbm_efficiency":0.8,"scale_up_efficiency":0.82,"switch_reduction":0.74,"processors":132,"collective_processors":20,"gemm_depth":16,"tiles":"256x128 1, 128x256 1, 128x128 0.92, 128x64 0.8, 64x64 0.65"},"fabric":{}},{"name":"building2","gpus":4,"gpus_per_node":2,"gpu":{"name":"h100","architecture":"hopper","bf16_peak":"989TFLOP/s","fp8_peak":"1.979PFLOP/s","hbm_capacity":"81559MiB","hbm_reserve":"6GiB","hbm_bandwidth":"26.8Tbps","scale_up_bandwidth":"3.6Tbps","scale_up_latency":"1900ns","nic_rate":"400Gbps","host_bandwidth":"440Gbps","gemm_efficiency":0.67,"fp8_efficiency":0.57,"attention_efficiency":0.7,"kernel_gap":"2us","hbm_efficiency":0.8,"scale_up_efficiency":0.82,"switch_reduction":0.74,"processors":132,"collective_processors":20,"gemm_depth":16,"tiles":"256x128 1, 128x256 1, 128x128 0.92, 128x64 0.8, 64x64 0.65"},"fabric":{}}],"links":[{"between":["building1","building2"],"distance":"20km","capacity":"400Gbps"}]},"network":{},"seed":1}',20.0,400000000000.0,0.0,4.0);
CREATE TABLE plan (
    id                 INTEGER PRIMARY KEY,
    hash               TEXT NOT NULL UNIQUE,
    text               TEXT NOT NULL,
    label              TEXT NOT NULL,
    tp                 INTEGER NOT NULL,
    cp                 INTEGER NOT NULL,
    ep                 INTEGER NOT NULL,
    etp                INTEGER NOT NULL,
    pp                 INTEGER NOT NULL,
    dp                 INTEGER NOT NULL,
    crossing           TEXT NOT NULL,
    sharding           TEXT NOT NULL,
    shard_ranks        INTEGER NOT NULL,
    reshard            TEXT NOT NULL,
    reduce             TEXT NOT NULL,
    prefetch           INTEGER NOT NULL,
    bucket             TEXT NOT NULL,
    schedule           TEXT NOT NULL,
    microbatch         INTEGER NOT NULL,
    chunks             INTEGER NOT NULL,
    round              INTEGER NOT NULL,
    in_flight          INTEGER NOT NULL,
    apportion          TEXT NOT NULL,
    layers             TEXT NOT NULL,
    embedding_as_layer TEXT NOT NULL,
    loss_as_layer      TEXT NOT NULL,
    recompute          TEXT NOT NULL,
    recompute_layers   INTEGER NOT NULL,
    offload_layers     INTEGER NOT NULL,
    async_tp           TEXT NOT NULL,
    transport          TEXT NOT NULL,
    multipath          TEXT NOT NULL,
    control            TEXT NOT NULL,
    recovery           TEXT NOT NULL,
    reorder_tolerance  INTEGER NOT NULL,
    qps                INTEGER NOT NULL,
    segment            TEXT NOT NULL,
    balance            TEXT NOT NULL,
    outstanding        INTEGER NOT NULL,
    "window"           TEXT NOT NULL,
    admission          TEXT NOT NULL,
    qp_scheduler       TEXT NOT NULL,
    qp_burst           TEXT NOT NULL,
    collective         TEXT NOT NULL,
    all_to_all         TEXT NOT NULL,
    collective_chunk   TEXT NOT NULL,
    channels           INTEGER NOT NULL,
    nccl_algorithm     TEXT NOT NULL,
    nccl_protocol      TEXT NOT NULL,
    nccl_channels      INTEGER NOT NULL,
    nccl_collnet       TEXT NOT NULL,
    nccl_net_step      TEXT NOT NULL,
    nccl_net_long      TEXT NOT NULL,
    nccl_net_fill      TEXT NOT NULL,
    nccl_net_flags     TEXT NOT NULL,
    nccl_net_message   TEXT NOT NULL,
    nccl_net_inject    TEXT NOT NULL,
    token_start        TEXT NOT NULL,
    token_message      TEXT NOT NULL,
    copy               TEXT NOT NULL,
    mtu                TEXT NOT NULL,
    headers            TEXT NOT NULL,
    ack_size           TEXT NOT NULL,
    ack_every          INTEGER NOT NULL,
    pfc                TEXT NOT NULL,
    lane_credits       TEXT NOT NULL,
    leaf_buffer        TEXT NOT NULL,
    spine_buffer       TEXT NOT NULL,
    timeout_exponent   INTEGER NOT NULL,
    retries            INTEGER NOT NULL,
    detection          TEXT NOT NULL,
    convergence        TEXT NOT NULL,
    keep_at_down_port  TEXT NOT NULL,
    "classes.tp"       INTEGER NOT NULL,
    "classes.cp"       INTEGER NOT NULL,
    "classes.ep"       INTEGER NOT NULL,
    "classes.pp"       INTEGER NOT NULL,
    "classes.dp"       INTEGER NOT NULL,
    class_weights      TEXT NOT NULL
);
INSERT INTO "plan" VALUES(1,'92cf9d1b-f6c7-5730-b180-b4b04b60877a','pp=2 dp=4 crossing=pp','TP1 PP2 DP4 PP-out HSDP 1f1b b1',1,1,1,0,2,4,'pp','hsdp',0,'false','accumulated',2,'0B','1f1b',1,1,0,0,'even','auto','false','false','none',0,0,'false','roce','e-ecmp','none','go-back-n',256,16,'512KiB','split',0,'0B','0B','packet','16KiB','hierarchical','follow','0B',1,'auto','auto',0,'false','3us','0s','0bps','0bps','0s','0s','0s','0s','zero-copy','4KiB','82B','86B',4,'true','128KiB','64MiB','256MiB',14,7,'10us','1ms','false',0,0,0,0,0,'strict');
INSERT INTO "plan" VALUES(2,'e98dfb8c-778d-5141-8ff1-146cbf036230','pp=2 dp=4','TP1 PP2 DP4 DP-out HSDP 1f1b b1',1,1,1,0,2,4,'dp','hsdp',0,'false','accumulated',2,'0B','1f1b',1,1,0,0,'even','auto','false','false','none',0,0,'false','roce','e-ecmp','none','go-back-n',256,16,'512KiB','split',0,'0B','0B','packet','16KiB','hierarchical','follow','0B',1,'auto','auto',0,'false','3us','0s','0bps','0bps','0s','0s','0s','0s','zero-copy','4KiB','82B','86B',4,'true','128KiB','64MiB','256MiB',14,7,'10us','1ms','false',0,0,0,0,0,'strict');
INSERT INTO "plan" VALUES(3,'b71a2cf5-688c-54c5-a9f5-74701f511793','tp=2 pp=2 dp=2','TP2 PP2 DP2 DP-out HSDP 1f1b b1',2,1,1,0,2,2,'dp','hsdp',0,'false','accumulated',2,'0B','1f1b',1,1,0,0,'even','auto','false','false','none',0,0,'false','roce','e-ecmp','none','go-back-n',256,16,'512KiB','split',0,'0B','0B','packet','16KiB','hierarchical','follow','0B',1,'auto','auto',0,'false','3us','0s','0bps','0bps','0s','0s','0s','0s','zero-copy','4KiB','82B','86B',4,'true','128KiB','64MiB','256MiB',14,7,'10us','1ms','false',0,0,0,0,0,'strict');
INSERT INTO "plan" VALUES(4,'7642c226-3136-564f-95fb-4945e309125c','tp=2 pp=2 dp=2 crossing=pp','TP2 PP2 DP2 PP-out HSDP 1f1b b1',2,1,1,0,2,2,'pp','hsdp',0,'false','accumulated',2,'0B','1f1b',1,1,0,0,'even','auto','false','false','none',0,0,'false','roce','e-ecmp','none','go-back-n',256,16,'512KiB','split',0,'0B','0B','packet','16KiB','hierarchical','follow','0B',1,'auto','auto',0,'false','3us','0s','0bps','0bps','0s','0s','0s','0s','zero-copy','4KiB','82B','86B',4,'true','128KiB','64MiB','256MiB',14,7,'10us','1ms','false',0,0,0,0,0,'strict');
INSERT INTO "plan" VALUES(5,'28a063a3-018f-57bb-90cf-360222bf3272','tp=2 pp=2 dp=2 schedule=dorapp microbatch=4 chunks=2','TP2 PP2x2 DP2 DP-out HSDP dorapp b4',2,1,1,0,2,2,'dp','hsdp',0,'false','accumulated',2,'0B','dorapp',4,2,0,0,'even','auto','false','false','none',0,0,'false','roce','e-ecmp','none','go-back-n',256,16,'512KiB','split',0,'0B','0B','packet','16KiB','hierarchical','follow','0B',1,'auto','auto',0,'false','3us','0s','0bps','0bps','0s','0s','0s','0s','zero-copy','4KiB','82B','86B',4,'true','128KiB','64MiB','256MiB',14,7,'10us','1ms','false',0,0,0,0,0,'strict');
CREATE TABLE run (
    id                   INTEGER PRIMARY KEY,
    scenario_id          INTEGER NOT NULL REFERENCES scenario (id),
    plan_id              INTEGER NOT NULL REFERENCES plan (id),
    engine               TEXT NOT NULL,
    options              TEXT NOT NULL,
    correction           TEXT NOT NULL,
    seed                 INTEGER,
    fingerprint          TEXT NOT NULL,
    status               TEXT NOT NULL CHECK (status IN ('ok', 'infeasible', 'failed')),
    reason               TEXT,
    detail               TEXT,
    time_limit_s         REAL,
    memory_limit         INTEGER,
    iteration_time_s     REAL,
    mfu                  REAL,
    compute_s            REAL,
    bubble_s             REAL,
    bubble_fraction      REAL,
    exposed_comm_s       REAL,
    memory_bytes_max     INTEGER,
    cross_building_bytes INTEGER,
    warmup               INTEGER,
    iterations           INTEGER,
    packets_sent         INTEGER,
    packets_delivered    INTEGER,
    packets_dropped      INTEGER,
    packets_in_flight    INTEGER,
    retransmissions      INTEGER,
    pauses               INTEGER,
    collision_factor     REAL,
    requested            INTEGER NOT NULL,
    evaluations          INTEGER NOT NULL DEFAULT 1,
    program_version      TEXT NOT NULL,
    git_commit           TEXT NOT NULL,
    created_at           TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CHECK ((status = 'ok') = (iteration_time_s IS NOT NULL)),
    CHECK ((status = 'ok') = (reason IS NULL))
);
INSERT INTO run VALUES(1,1,1,'analytical','warmup=1 iterations=1','',NULL,'release','ok',NULL,NULL,NULL,NULL,0.0014253907730000000674,0.021707734197821570987,0.00068617812699999999621,0.0004038017789999999961,0.28329198325742210862,0.00033541086800000001694,45655040,8388608,1,1,0,0,0,0,0,0,1.0,0,1,'0.1.0','','2026-01-01 00:00:00');
INSERT INTO run VALUES(2,1,2,'analytical','warmup=1 iterations=1','',NULL,'release','ok',NULL,NULL,NULL,NULL,0.0018401635409999999182,0.016814812020184147917,0.00070062154799999999156,0.00024561010899999999963,0.13347189177899271284,0.0008939318839999999813,52736000,37767168,1,1,0,0,0,0,0,0,1.0,0,1,'0.1.0','','2026-01-01 00:00:00');
INSERT INTO run VALUES(3,1,3,'analytical','warmup=1 iterations=1','',NULL,'release','ok',NULL,NULL,NULL,NULL,0.0025254213589999997824,0.012252214434649289637,0.001239094000000000046,0.0002518029469999999827,0.0997073007649334625,0.0010345244120000000789,33448960,37767168,1,1,0,0,0,0,0,0,1.0,0,1,'0.1.0','','2026-01-01 00:00:00');
INSERT INTO run VALUES(4,1,4,'analytical','warmup=1 iterations=1','',NULL,'release','ok',NULL,NULL,NULL,NULL,0.0026386098910000000024,0.011726630804292481613,0.0012252616259999999422,0.00060712184299999995534,0.23009155126372560218,0.00080622642299999999239,26368000,8388608,1,1,0,0,0,0,0,0,1.0,0,1,'0.1.0','','2026-01-01 00:00:00');
INSERT INTO run VALUES(5,1,5,'analytical','warmup=1 iterations=1','',NULL,'release','ok',NULL,NULL,NULL,NULL,0.0014459040600000000031,0.021399762877981978043,0.00047102086199999997073,0.00020977162199999998919,0.14507990384922217486,0.00076511157599999993477,70067200,37767168,1,1,0,0,0,0,0,0,1.0,1,1,'0.1.0','','2026-01-01 00:00:00');
CREATE TABLE run_class (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    class       TEXT NOT NULL,
    busy_s      REAL NOT NULL,
    exposed_s   REAL NOT NULL,
    bytes       INTEGER NOT NULL,
    cross_bytes INTEGER NOT NULL,
    PRIMARY KEY (run_id, class)
) WITHOUT ROWID;
INSERT INTO run_class VALUES(1,'cp',0.0,0.0,0,0);
INSERT INTO run_class VALUES(1,'dp',0.0001127042649999999952,4.5045763999999996387e-05,84976128,0);
INSERT INTO run_class VALUES(1,'ep',0.0,0.0,0,0);
INSERT INTO run_class VALUES(1,'pp',0.00044558745699999996415,0.00029036510400000002055,8388608,8388608);
INSERT INTO run_class VALUES(1,'tp',0.0,0.0,0,0);
INSERT INTO run_class VALUES(2,'cp',0.0,0.0,0,0);
INSERT INTO run_class VALUES(2,'dp',0.0010128454500000000013,0.00088740584199999996122,94417920,37767168);
INSERT INTO run_class VALUES(2,'ep',0.0,0.0,0,0);
INSERT INTO run_class VALUES(2,'pp',1.0441667999999999449e-05,6.526041999999999748e-06,8388608,0);
INSERT INTO run_class VALUES(2,'tp',0.0,0.0,0,0);
INSERT INTO run_class VALUES(3,'cp',0.0,0.0,0,0);
INSERT INTO run_class VALUES(3,'dp',0.00085812989999999999147,0.00077174125999999998708,37767168,37767168);
INSERT INTO run_class VALUES(3,'ep',0.0,0.0,0,0);
INSERT INTO run_class VALUES(3,'pp',3.4169920000000000978e-05,1.9220579999999998855e-05,8388608,0);
INSERT INTO run_class VALUES(3,'tp',0.00040593762000000000247,0.00024356257200000000148,188743680,0);
INSERT INTO run_class VALUES(4,'cp',0.0,0.0,0,0);
INSERT INTO run_class VALUES(4,'dp',8.345747000000000311e-05,3.1412869999999996602e-05,28325376,0);
INSERT INTO run_class VALUES(4,'ep',0.0,0.0,0,0);
INSERT INTO run_class VALUES(4,'pp',0.00091125357899999996115,0.0005312509810000000214,8388608,8388608);
INSERT INTO run_class VALUES(4,'tp',0.00040593762000000000247,0.00024356257200000000148,188743680,0);
INSERT INTO run_class VALUES(5,'cp',0.0,0.0,0,0);
INSERT INTO run_class VALUES(5,'dp',0.00085812989999999999147,0.00061108860199999995386,37767168,37767168);
INSERT INTO run_class VALUES(5,'ep',0.0,0.0,0,0);
INSERT INTO run_class VALUES(5,'pp',8.6692940999999996785e-05,6.4360428999999993852e-05,25165824,0);
INSERT INTO run_class VALUES(5,'tp',0.00014943757499999999198,8.9662545000000000612e-05,188743680,0);
CREATE TABLE run_memory (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    stage       INTEGER NOT NULL,
    parameters  INTEGER NOT NULL,
    gradients   INTEGER NOT NULL,
    optimizer   INTEGER NOT NULL,
    activations INTEGER NOT NULL,
    gathered    INTEGER NOT NULL,
    buffers     INTEGER NOT NULL,
    usable      INTEGER NOT NULL,
    PRIMARY KEY (run_id, stage)
) WITHOUT ROWID;
INSERT INTO run_memory VALUES(1,0,1180160,2360320,7080960,21004288,10621440,3407872,79078359040);
INSERT INTO run_memory VALUES(1,1,1180288,2360576,7081728,12075008,10622592,3407872,79078359040);
INSERT INTO run_memory VALUES(2,0,2360320,4720640,14161920,21004288,7080960,3407872,79078359040);
INSERT INTO run_memory VALUES(2,1,2360576,4721152,14163456,12075008,7081728,3407872,79078359040);
INSERT INTO run_memory VALUES(3,0,2360320,4720640,14161920,10502144,0,1703936,79078359040);
INSERT INTO run_memory VALUES(3,1,2360576,4721152,14163456,6037504,0,2097152,79078359040);
INSERT INTO run_memory VALUES(4,0,1180160,2360320,7080960,10502144,3540480,1703936,79078359040);
INSERT INTO run_memory VALUES(4,1,1180288,2360576,7081728,6037504,3540864,2097152,79078359040);
INSERT INTO run_memory VALUES(5,0,2360320,4720640,14161920,42008576,0,6815744,79078359040);
INSERT INTO run_memory VALUES(5,1,2360576,4721152,14163456,34652160,0,8388608,79078359040);
CREATE TABLE run_resource (
    run_id       INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    name         TEXT NOT NULL,
    bytes        INTEGER NOT NULL,
    capacity_bps REAL NOT NULL,
    shared       INTEGER NOT NULL,
    busy         REAL NOT NULL,
    PRIMARY KEY (run_id, position)
) WITHOUT ROWID;
INSERT INTO run_resource VALUES(1,0,'building1 leaf up',2139136,800000000000.0,1,0.015007365281997654335);
INSERT INTO run_resource VALUES(1,1,'building2 leaf up',2139136,800000000000.0,1,0.015007365281997654335);
INSERT INTO run_resource VALUES(1,2,'building1 leaf down',2139136,800000000000.0,1,0.015007365281997654335);
INSERT INTO run_resource VALUES(1,3,'building2 leaf down',2139136,800000000000.0,1,0.015007365281997654335);
INSERT INTO run_resource VALUES(1,4,'building1 to building2',4278272,400000000000.0,1,0.060029461127990617341);
INSERT INTO run_resource VALUES(1,5,'building2 to building1',4278272,400000000000.0,1,0.060029461127990617341);
INSERT INTO run_resource VALUES(1,6,'stage 0 scale-up out',7080960,2952000000000.0,0,0.013462689572170366547);
INSERT INTO run_resource VALUES(1,7,'stage 0 scale-up in',7080960,2952000000000.0,0,0.013462689572170366547);
INSERT INTO run_resource VALUES(1,8,'stage 0 NIC out',4681224,400000000000.0,0,0.06568337734006084172);
INSERT INTO run_resource VALUES(1,9,'stage 0 NIC in',4681224,400000000000.0,0,0.06568337734006084172);
INSERT INTO run_resource VALUES(1,10,'stage 1 scale-up out',7081728,2952000000000.0,0,0.013464149733729171079);
INSERT INTO run_resource VALUES(1,11,'stage 1 scale-up in',7081728,2952000000000.0,0,0.013464149733729171079);
INSERT INTO run_resource VALUES(1,12,'stage 1 NIC out',4681772,400000000000.0,0,0.065691066459569388835);
INSERT INTO run_resource VALUES(1,13,'stage 1 NIC in',4681772,400000000000.0,0,0.065691066459569388835);
INSERT INTO run_resource VALUES(2,0,'building1 leaf up',9632216,800000000000.0,1,0.05234434758318038533);
INSERT INTO run_resource VALUES(2,1,'building2 leaf up',9632216,800000000000.0,1,0.05234434758318038533);
INSERT INTO run_resource VALUES(2,2,'building1 leaf down',9632216,800000000000.0,1,0.05234434758318038533);
INSERT INTO run_resource VALUES(2,3,'building2 leaf down',9632216,800000000000.0,1,0.05234434758318038533);
INSERT INTO run_resource VALUES(2,4,'building1 to building2',19263080,400000000000.0,1,0.20936269598659548729);
INSERT INTO run_resource VALUES(2,5,'building2 to building1',19263080,400000000000.0,1,0.20936269598659548729);
INSERT INTO run_resource VALUES(2,6,'stage 0 scale-up out',1048576,2952000000000.0,0,0.0015442482765143357523);
INSERT INTO run_resource VALUES(2,7,'stage 0 scale-up in',1048576,2952000000000.0,0,0.0015442482765143357523);
INSERT INTO run_resource VALUES(2,8,'stage 0 NIC out',12038416,400000000000.0,0,0.13084071857502366231);
INSERT INTO run_resource VALUES(2,9,'stage 0 NIC in',12038416,400000000000.0,0,0.13084071857502366231);
INSERT INTO run_resource VALUES(2,10,'stage 1 scale-up out',1048576,2952000000000.0,0,0.0015442482765143357523);
INSERT INTO run_resource VALUES(2,11,'stage 1 scale-up in',1048576,2952000000000.0,0,0.0015442482765143357523);
INSERT INTO run_resource VALUES(2,12,'stage 1 NIC out',12040024,400000000000.0,0,0.1308581952825463579);
INSERT INTO run_resource VALUES(2,13,'stage 1 NIC in',12040024,400000000000.0,0,0.1308581952825463579);
INSERT INTO run_resource VALUES(3,0,'building1 leaf up',9631540,800000000000.0,1,0.038138348540038627398);
INSERT INTO run_resource VALUES(3,1,'building2 leaf up',9631540,800000000000.0,1,0.038138348540038627398);
INSERT INTO run_resource VALUES(3,2,'building1 leaf down',9631540,800000000000.0,1,0.038138348540038627398);
INSERT INTO run_resource VALUES(3,3,'building2 leaf down',9631540,800000000000.0,1,0.038138348540038627398);
INSERT INTO run_resource VALUES(3,4,'building1 to building2',19263080,400000000000.0,1,0.15255339416015450959);
INSERT INTO run_resource VALUES(3,5,'building2 to building1',19263080,400000000000.0,1,0.15255339416015450959);
INSERT INTO run_resource VALUES(3,6,'stage 0 scale-up out',23068672,2952000000000.0,0,0.024754968538009770873);
INSERT INTO run_resource VALUES(3,7,'stage 0 scale-up in',23068672,2952000000000.0,0,0.024754968538009770873);
INSERT INTO run_resource VALUES(3,8,'stage 0 NIC out',5885000,400000000000.0,0,0.046606084002792348697);
INSERT INTO run_resource VALUES(3,9,'stage 0 NIC in',5885000,400000000000.0,0,0.046606084002792348697);
INSERT INTO run_resource VALUES(3,10,'stage 1 scale-up out',24117248,2952000000000.0,0,0.025880194380646578955);
INSERT INTO run_resource VALUES(3,11,'stage 1 scale-up in',24117248,2952000000000.0,0,0.025880194380646578955);
INSERT INTO run_resource VALUES(3,12,'stage 1 NIC out',5885676,400000000000.0,0,0.046611437564863016091);
INSERT INTO run_resource VALUES(3,13,'stage 1 NIC in',5885676,400000000000.0,0,0.046611437564863016091);
INSERT INTO run_resource VALUES(4,0,'building1 leaf up',2139136,800000000000.0,1,0.0081070567016986901098);
INSERT INTO run_resource VALUES(4,1,'building2 leaf up',2139136,800000000000.0,1,0.0081070567016986901098);
INSERT INTO run_resource VALUES(4,2,'building1 leaf down',2139136,800000000000.0,1,0.0081070567016986901098);
INSERT INTO run_resource VALUES(4,3,'building2 leaf down',2139136,800000000000.0,1,0.0081070567016986901098);
INSERT INTO run_resource VALUES(4,4,'building1 to building2',4278272,400000000000.0,1,0.032428226806794760439);
INSERT INTO run_resource VALUES(4,5,'building2 to building1',4278272,400000000000.0,1,0.032428226806794760439);
INSERT INTO run_resource VALUES(4,6,'stage 0 scale-up out',23068672,2952000000000.0,0,0.023693053869198458377);
INSERT INTO run_resource VALUES(4,7,'stage 0 scale-up in',23068672,2952000000000.0,0,0.023693053869198458377);
INSERT INTO run_resource VALUES(4,8,'stage 0 NIC out',4681224,400000000000.0,0,0.035482501721585492371);
INSERT INTO run_resource VALUES(4,9,'stage 0 NIC in',4681224,400000000000.0,0,0.035482501721585492371);
INSERT INTO run_resource VALUES(4,10,'stage 1 scale-up out',24117248,2952000000000.0,0,0.024770010863252936439);
INSERT INTO run_resource VALUES(4,11,'stage 1 scale-up in',24117248,2952000000000.0,0,0.024770010863252936439);
INSERT INTO run_resource VALUES(4,12,'stage 1 NIC out',4681772,400000000000.0,0,0.035486655423895702154);
INSERT INTO run_resource VALUES(4,13,'stage 1 NIC in',4681772,400000000000.0,0,0.035486655423895702154);
INSERT INTO run_resource VALUES(5,0,'building1 leaf up',9631540,800000000000.0,1,0.066612580090549031175);
INSERT INTO run_resource VALUES(5,1,'building2 leaf up',9631540,800000000000.0,1,0.066612580090549031175);
INSERT INTO run_resource VALUES(5,2,'building1 leaf down',9631540,800000000000.0,1,0.066612580090549031175);
INSERT INTO run_resource VALUES(5,3,'building2 leaf down',9631540,800000000000.0,1,0.066612580090549031175);
INSERT INTO run_resource VALUES(5,4,'building1 to building2',19263080,400000000000.0,1,0.2664503203621961247);
INSERT INTO run_resource VALUES(5,5,'building2 to building1',19263080,400000000000.0,1,0.2664503203621961247);
INSERT INTO run_resource VALUES(5,6,'stage 0 scale-up out',23068672,2952000000000.0,0,0.043237119264512520466);
INSERT INTO run_resource VALUES(5,7,'stage 0 scale-up in',23068672,2952000000000.0,0,0.043237119264512520466);
INSERT INTO run_resource VALUES(5,8,'stage 0 NIC out',8024136,400000000000.0,0,0.11099126452414831422);
INSERT INTO run_resource VALUES(5,9,'stage 0 NIC in',8024136,400000000000.0,0,0.11099126452414831422);
INSERT INTO run_resource VALUES(5,10,'stage 1 scale-up out',24117248,2952000000000.0,0,0.045202442867444916907);
INSERT INTO run_resource VALUES(5,11,'stage 1 scale-up in',24117248,2952000000000.0,0,0.045202442867444916907);
INSERT INTO run_resource VALUES(5,12,'stage 1 NIC out',8024812,400000000000.0,0,0.11100061507538751259);
INSERT INTO run_resource VALUES(5,13,'stage 1 NIC in',8024812,400000000000.0,0,0.11100061507538751259);
CREATE TABLE run_correction (
    run_id          INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    set_name        TEXT NOT NULL,
    operations      INTEGER NOT NULL,
    covered         INTEGER NOT NULL,
    uncovered_share REAL NOT NULL,
    low_s           REAL NOT NULL,
    high_s          REAL NOT NULL
);
CREATE TABLE run_correction_note (
    run_id    INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('missing', 'unreached')),
    operation TEXT NOT NULL,
    PRIMARY KEY (run_id, position)
) WITHOUT ROWID;
CREATE TABLE run_fast_forward (
    run_id     INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    skipped_s  REAL NOT NULL,
    skips      INTEGER NOT NULL,
    verified_s REAL NOT NULL,
    checks     INTEGER NOT NULL,
    error      REAL NOT NULL,
    worst      REAL NOT NULL
);
CREATE TABLE network (
    id               INTEGER PRIMARY KEY,
    hash             TEXT NOT NULL UNIQUE,
    text             TEXT NOT NULL,
    study            TEXT NOT NULL,
    gpus             INTEGER NOT NULL,
    distance_km      REAL,
    capacity_bps     REAL,
    loss             REAL,
    oversubscription REAL
);
INSERT INTO network VALUES(1,'7bcaaadc-8930-599f-810c-29d8afc26c04','{"jobs":[{"collective":{"op":"all_reduce","group":"all","bytes":"1B"}}],"cluster":{"buildings":[{"name":"building1","gpus":4,"gpus_per_node":2,"gpu":{"architecture":"hopper","bf16_peak":"989TFLOP/s","fp8_peak":"1.979PFLOP/s","hbm_capacity":"81559MiB","hbm_reserve":"6GiB","hbm_bandwidth":"26.8Tbps","scale_up_bandwidth":"3.6Tbps","scale_up_latency":"1900ns","nic_rate":"400Gbps","host_bandwidth":"440Gbps","gemm_efficiency":0.67,"fp8_efficiency":0.57,"attention_efficiency":0.7,"kernel_gap":"2us","hbm_efficiency":0.8,"scale_up_efficiency":0.82,"switch_reduction":0.74,"processors":132,"collective_processors":20,"gemm_depth":16,"tiles":"256x128 1, 128x256 1, 128x128 0.92, 128x64 0.8, 64x64 0.65"},"fabric":{}},{"name":"building2","gpus":4,"gpus_per_node":2,"gpu":{"architecture":"hopper","bf16_peak":"989TFLOP/s","fp8_peak":"1.979PFLOP/s","hbm_capacity":"81559MiB","hbm_reserve":"6GiB","hbm_bandwidth":"26.8Tbps","scale_up_bandwidth":"3.6Tbps","scale_up_latency":"1900ns","nic_rate":"400Gbps","host_bandwidth":"440Gbps","gemm_efficiency":0.67,"fp8_efficiency":0.57,"attention_efficiency":0.7,"kernel_gap":"2us","hbm_efficiency":0.8,"scale_up_efficiency":0.82,"switch_reduction":0.74,"processors":132,"collective_processors":20,"gemm_depth":16,"tiles":"256x128 1, 128x256 1, 128x128 0.92, 128x64 0.8, 64x64 0.65"},"fabric":{}}],"links":[{"between":["building1","building2"],"distance":"10km","capacity":"400Gbps"}]},"network":{}}','two-buildings',8,10.0,400000000000.0,0.0,4.0);
CREATE TABLE collective_run (
    id                   INTEGER PRIMARY KEY,
    network_id           INTEGER NOT NULL REFERENCES network (id),
    operation            TEXT NOT NULL,
    engine               TEXT NOT NULL,
    options              TEXT NOT NULL,
    seed                 INTEGER,
    fingerprint          TEXT NOT NULL,
    op                   TEXT NOT NULL,
    group_of             TEXT NOT NULL,
    "groups"             INTEGER NOT NULL,
    members              INTEGER NOT NULL,
    bytes                INTEGER NOT NULL,
    algorithm            TEXT NOT NULL,
    protocol             TEXT,
    channels             INTEGER,
    time_s               REAL NOT NULL,
    algbw                REAL NOT NULL,
    busbw                REAL NOT NULL,
    cross_building_bytes INTEGER NOT NULL,
    evaluations          INTEGER NOT NULL DEFAULT 1,
    program_version      TEXT NOT NULL,
    git_commit           TEXT NOT NULL,
    created_at           TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO collective_run VALUES(1,1,'op=all_reduce group=all groups=1 bytes=1MiB','analytical','warmup=1 iterations=8',NULL,'release','all_reduce','all',1,8,1048576,'hierarchical',NULL,NULL,0.00016356230999999999829,6410865681.7087020874,11219014942.990228652,2097152,1,'0.1.0','','2026-01-01 00:00:00');
CREATE TABLE search (
    id                     INTEGER PRIMARY KEY,
    hash                   TEXT NOT NULL UNIQUE,
    study                  TEXT NOT NULL,
    settings               TEXT,
    held                   TEXT NOT NULL,
    method                 TEXT NOT NULL,
    scenario_id            INTEGER NOT NULL REFERENCES scenario (id),
    engine                 TEXT NOT NULL,
    options                TEXT NOT NULL,
    correction             TEXT NOT NULL,
    seed                   INTEGER,
    fingerprint            TEXT NOT NULL,
    space                  TEXT NOT NULL,
    plans                  INTEGER NOT NULL,
    keep                   INTEGER NOT NULL,
    objective              TEXT NOT NULL,
    pareto_of              TEXT NOT NULL,
    gap_asked              REAL NOT NULL,
    rest_gap_asked         REAL NOT NULL,
    gpus                   INTEGER NOT NULL,
    tokens                 REAL NOT NULL,
    cost_per_hour          REAL,
    whole                  TEXT,
    shard                  INTEGER,
    shards                 INTEGER,
    next_plan              INTEGER NOT NULL DEFAULT 0,
    evaluated              INTEGER NOT NULL DEFAULT 0,
    bound_s                REAL,
    ruled_out_least        REAL,
    proven_after           INTEGER,
    engine_runs            INTEGER NOT NULL DEFAULT 0,
    seconds                REAL NOT NULL DEFAULT 0,
    finished               INTEGER NOT NULL DEFAULT 0,
    so_far                 TEXT,
    gap                    REAL,
    explanation            TEXT,
    topics                 TEXT,
    warnings               TEXT,
    checked                TEXT,
    robust                 TEXT,
    sure                   REAL,
    placement_probability  REAL,
    time_error_kind        TEXT,
    time_error_mean        REAL,
    time_error_within      REAL,
    time_error_worst       REAL,
    time_error_runs        INTEGER,
    time_error_families    INTEGER,
    time_error_figures_of  TEXT,
    time_error_unvalidated TEXT,
    created_at             TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at             TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO search VALUES(1,'adf1a6ee-a9f5-52c7-9446-0b4cbd14e55e','two-buildings','{"cluster.cross.distance":"20km"}','Held, since the study gives this key and no `search` names it: microbatch 1. To have one searched, name it with its values, such as search: {plan: {microbatch: [1, 2, 4, 8]}}.','best-first',1,'analytical','warmup=1 iterations=1','',NULL,'release','fixed dp=8; dp derived; plan.tp 1 2; plan.pp 1 2; plan.crossing dp pp',8,2,'time','time,memory',0.0,0.050000000000000002775,8,8192.0,NULL,NULL,NULL,NULL,8,4,0.0013931372180000000174,0.0023820291740000000893,1,4,1.0,1,NULL,0.0,replace('Best: TP1 PP2 DP4 PP-out HSDP 1f1b b1: 1.425 ms per iteration, MFU 2.17 %.\nAcross buildings: 8 MiB per iteration, pp 100.0 %.\nCommunication: 335.4 us exposed (23.5 % of the iteration): pp 290.4 us exposed, 155.2 us hidden; dp 45.05 us exposed, 67.66 us hidden.\nPipeline bubble: 28.3 %. Memory: 43.54 MiB of 73.65 GiB usable on the fullest stage, most of it activations (20.03 MiB).\nStages: building1 has stage 0 with 2 layers; building2 has stage 1 with 2 layers.\nLinks, the fullest of each kind: stage 1 NIC out 6.57 %, building1 to building2 6.00 %, building1 leaf up 1.50 %, stage 1 scale-up out 1.35 % of the time.\nPlacement: the best DP-out plan (TP1 PP2 DP4 DP-out HSDP 1f1b b1) takes 1.84 ms, 29.1 % longer than PP-out, 89 % likely. Placement does not decide here. It sends 36.02 MiB across buildings instead of 8 MiB and has exposed dp communication 842.4 us more, exposed pp communication 283.8 us less and pipeline bubble 158.2 us less.\nNext best: TP1 PP2 DP4 DP-out HSDP 1f1b b1, 29.1 % longer, 89 % likely. At least 1 plan cannot be told from the best (90 %). The best is the fastest of all that are kept with 89 %.\nTimes: no runs of this kind of model by this stack on these GPUs are published, so that nothing is known of how far they are off.\nBaseline production (the fastest over pp, cp, ep, chunks, microbatch, async_tp; not touched: what crosses, sharding, schedule, tp, network): TP2 PP2x2 DP2 DP-out HSDP dorapp b4 takes 1.446 ms: the best is 1.44 % faster, 52 % likely; the search space does not hold this plan: schedule dorapp (not searched: 1f1b), microbatch 4 (held at 1) and chunks 2 (not searched: 1).\nOptimal for the analytical engine: 4 plans were run and 2 ruled out, which by their bounds cannot be faster, whether they can run or not; it takes 2.32 % longer than the least bound of all, 1.393 ms (the slack of the bound). The rest of what is kept is proven to 5 % of how far it is behind.\n','\n',char(10)),replace('best\ntime\ntime\ntime\nstages\nlinks\nplacement\nsure\nsure\nbaselines\nproof\n','\n',char(10)),'',NULL,NULL,0.9000000000000000222,0.89411228178846424707,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'2026-01-01 00:00:00','2026-01-01 00:00:01');
CREATE TABLE search_count (
    search_id INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
    outcome   TEXT NOT NULL CHECK (outcome IN ('rejected', 'failed')),
    reason    TEXT NOT NULL,
    count     INTEGER NOT NULL,
    example   TEXT NOT NULL,
    PRIMARY KEY (search_id, outcome, reason)
) WITHOUT ROWID;
INSERT INTO search_count VALUES(1,'rejected','bound',2,'TP1 PP1 DP8 DP-out HSDP b1 cannot take less than 2.382 ms');
INSERT INTO search_count VALUES(1,'rejected','crossing',2,'pp 1 gives fewer stages than the 2 buildings that it should cross: take as many or more, or another plan.crossing');
CREATE TABLE search_run (
    search_id          INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
    plan_index         INTEGER NOT NULL,
    run_id             INTEGER NOT NULL REFERENCES run (id),
    label              TEXT NOT NULL,
    rank               INTEGER,
    pareto             INTEGER NOT NULL DEFAULT 0,
    best_of_crossing   INTEGER NOT NULL DEFAULT 0,
    probability_best   REAL,
    probability_slower REAL,
    same_as            INTEGER,
    PRIMARY KEY (search_id, plan_index)
) WITHOUT ROWID;
INSERT INTO search_run VALUES(1,2,2,'TP1 PP2 DP4 DP-out HSDP 1f1b b1',2,0,1,0.10570000000000000228,0.89411228178846424707,NULL);
INSERT INTO search_run VALUES(1,3,4,'TP2 PP2 DP2 PP-out HSDP 1f1b b1',NULL,1,0,NULL,NULL,NULL);
INSERT INTO search_run VALUES(1,6,3,'TP2 PP2 DP2 DP-out HSDP 1f1b b1',NULL,1,0,NULL,NULL,NULL);
INSERT INTO search_run VALUES(1,7,1,'TP1 PP2 DP4 PP-out HSDP 1f1b b1',1,1,1,0.89429999999999998383,NULL,NULL);
CREATE TABLE baseline (
    search_id          INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
    name               TEXT NOT NULL,
    run_id             INTEGER REFERENCES run (id),
    label              TEXT,
    reason             TEXT,
    detail             TEXT,
    probability_slower REAL,
    PRIMARY KEY (search_id, name),
    CHECK ((run_id IS NULL) = (reason IS NOT NULL))
) WITHOUT ROWID;
INSERT INTO baseline VALUES(1,'production',5,'TP2 PP2x2 DP2 DP-out HSDP dorapp b4',NULL,NULL,0.52418033361709270856);
CREATE TABLE sweep (
    id         INTEGER PRIMARY KEY,
    hash       TEXT NOT NULL UNIQUE,
    study      TEXT NOT NULL,
    axes       TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE sweep_point (
    sweep_id  INTEGER NOT NULL REFERENCES sweep (id) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    search_id INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
    PRIMARY KEY (sweep_id, position)
) WITHOUT ROWID;
CREATE UNIQUE INDEX run_key ON run
    (scenario_id, engine, options, correction, fingerprint, IFNULL(seed, -1), plan_id);
CREATE INDEX run_plan ON run (plan_id);
CREATE UNIQUE INDEX collective_run_key ON collective_run
    (network_id, operation, engine, options, fingerprint, IFNULL(seed, -1));
CREATE INDEX search_scenario ON search (scenario_id);
CREATE INDEX search_run_run ON search_run (run_id);
CREATE INDEX baseline_run ON baseline (run_id);
CREATE INDEX sweep_point_search ON sweep_point (search_id);
CREATE VIEW ranking AS SELECT search_id, search.study, (SELECT group_concat(key || '=' || value, ', ') FROM json_each(search.settings)) AS changes, search.engine, rank, search_run.label, status, run.reason, iteration_time_s, mfu, memory_bytes_max, cross_building_bytes, distance_km, capacity_bps, scenario.loss, oversubscription, pareto, best_of_crossing, probability_best, probability_slower, run_correction.operations, run_correction.covered, run_correction.uncovered_share, run_correction.low_s, run_correction.high_s, plan_index, plan."tp", plan."cp", plan."ep", plan."etp", plan."pp", plan."dp", plan."crossing", plan."sharding", plan."shard_ranks", plan."reshard", plan."reduce", plan."prefetch", plan."bucket", plan."schedule", plan."microbatch", plan."chunks", plan."round", plan."in_flight", plan."apportion", plan."layers", plan."embedding_as_layer", plan."loss_as_layer", plan."recompute", plan."recompute_layers", plan."offload_layers", plan."async_tp", plan."transport", plan."multipath", plan."control", plan."recovery", plan."reorder_tolerance", plan."qps", plan."segment", plan."balance", plan."outstanding", plan."window", plan."admission", plan."qp_scheduler", plan."qp_burst", plan."collective", plan."all_to_all", plan."collective_chunk", plan."channels", plan."nccl_algorithm", plan."nccl_protocol", plan."nccl_channels", plan."nccl_collnet", plan."nccl_net_step", plan."nccl_net_long", plan."nccl_net_fill", plan."nccl_net_flags", plan."nccl_net_message", plan."nccl_net_inject", plan."token_start", plan."token_message", plan."copy", plan."mtu", plan."headers", plan."ack_size", plan."ack_every", plan."pfc", plan."lane_credits", plan."leaf_buffer", plan."spine_buffer", plan."timeout_exponent", plan."retries", plan."detection", plan."convergence", plan."keep_at_down_port", plan."classes.tp", plan."classes.cp", plan."classes.ep", plan."classes.pp", plan."classes.dp", plan."class_weights" FROM search_run JOIN search ON search.id = search_id JOIN run ON run.id = search_run.run_id JOIN plan ON plan.id = plan_id JOIN scenario ON scenario.id = search.scenario_id LEFT JOIN run_correction ON run_correction.run_id = run.id;
COMMIT;
