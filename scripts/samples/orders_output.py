"""Large files and test logs of the invented project `orders`: made by rule from fixed seeds, always the same."""

# ruff: noqa: E501 - the texts of the story keep their own lines

from __future__ import annotations

import random

TABLES = (
    ("user", "用户"), ("address", "收货地址"), ("sku", "商品规格"), ("price", "价格"), ("stock", "库存"), ("coupon", "优惠券"),
    ("cart", "购物车"), ("order", "订单"), ("order_item", "订单明细"), ("payment", "支付"), ("refund", "退款"),
    ("shipment", "发货"), ("package", "包裹"), ("invoice", "发票"), ("complaint", "投诉"), ("review", "评价"),
    ("warehouse", "仓库"), ("courier", "快递公司"), ("region", "地区"), ("tax_rule", "税率规则"), ("promotion", "促销活动"),
    ("member_level", "会员等级"), ("points", "积分"), ("message", "站内消息"), ("audit", "审计记录"), ("job", "后台任务"),
)  # fmt: skip
COLUMNS = (
    ("status", "VARCHAR(24) NOT NULL", "状态"), ("amount", "BIGINT NOT NULL DEFAULT 0", "金额，单位：分"),
    ("created_at", "TIMESTAMP NOT NULL", "创建时间"), ("updated_at", "TIMESTAMP", "最后修改时间"), ("note", "TEXT", "备注"),
    ("operator", "VARCHAR(64)", "操作人"), ("version", "INTEGER NOT NULL DEFAULT 1", "版本号"), ("source", "VARCHAR(32)", "来源渠道"),
    ("external_id", "VARCHAR(64)", "外部编号"), ("deleted", "BOOLEAN NOT NULL DEFAULT FALSE", "是否已删除"),
    ("quantity", "INTEGER", "数量"), ("weight", "NUMERIC(10, 3)", "重量，单位：千克"), ("expires_at", "TIMESTAMP", "过期时间"),
    ("currency", "CHAR(3) NOT NULL DEFAULT 'CNY'", "币种"), ("phone", "VARCHAR(20)", "联系电话"), ("remark", "TEXT", "客服备注"),
)  # fmt: skip
TESTS = (
    "创建订单",
    "查询订单",
    "取消订单",
    "退款",
    "库存预占",
    "优惠券",
    "分页",
    "并发",
    "金额换算",
    "重试",
    "超时",
    "权限",
)

LAST_FAILURE = "E       AssertionError: 订单 202510190042 退款后金额应为 12800 分，实际为 12799 分"
FAILED_TEST = "tests/test_refund.py::test_partial_refund[coupon-3]"


def schema() -> str:
    """The database's definition: tables with commented columns, for each of three parts of the shop."""
    rng = random.Random(7)
    out = ["-- 数据库结构，由迁移脚本生成，请勿手工修改", ""]
    for part, name in (("shop", "商城"), ("archive", "归档"), ("report", "报表")):
        for table, meaning in TABLES:
            if part != "shop" and rng.random() < 0.3:
                continue
            out.append(f"CREATE TABLE {part}.{table} (  -- {name}：{meaning}")
            out.append("    id          BIGINT PRIMARY KEY,  -- 主键")
            out.extend(f"    {column:<11} {kind},  -- {words}" for column, kind, words in COLUMNS if rng.random() < 0.6)
            out.append(f"    CONSTRAINT {part}_{table}_version CHECK (id > 0)")
            out.append(f");\nCREATE INDEX {part}_{table}_by_time ON {part}.{table} (id DESC);\n")
    return "\n".join(out)


def openapi() -> str:
    """The service's interface in YAML: one path for each table and verb."""
    rng = random.Random(8)
    out = ["openapi: 3.0.3", "info:", "  title: 订单服务", "  version: 2.7.1", "paths:"]
    for table, meaning in TABLES:
        for verb, words in (("get", "查询"), ("post", "新建"), ("delete", "删除")):
            if rng.random() < 0.05:
                continue
            out += [
                f"  /v2/{table}s/{{id}}/{verb}:",
                f"    {verb}:",
                f"      summary: {words}{meaning}",
                f"      operationId: {verb}_{table}",
                "      parameters:",
                "        - {name: id, in: path, required: true, schema: {type: string}}",
            ]
            for column, _, comment in rng.sample(COLUMNS, 3):
                out += [f"        - name: {column}", "          in: query", f"          description: {comment}"]
            out += [
                "      responses:",
                f"        '200': {{description: {meaning}，{words}成功}}",
                f"        '404': {{description: 没有这个{meaning}}}",
            ]
    return "\n".join(out)


def tests_run(seed: int, failing: bool = True, lines: int = 1240) -> str:
    """A verbose run of all tests; where it failed, only the lines around LAST_FAILURE matter."""
    rng = random.Random(seed)
    out = ["============================= test session starts =============================="]
    for number in range(lines):
        area = TESTS[number * len(TESTS) // lines]
        out.append(f"{area}::第{number:04d}例 PASSED {rng.randint(1, 90)}ms")
    if not failing:
        return "\n".join([*out, f"{lines + 1} passed in 47.{seed}s"])
    failure = [
        "=================================== FAILURES ===================================",
        "_______________________ test_partial_refund[coupon-3] __________________________",
        "    def test_partial_refund(shop, coupon):",
        "        order = shop.create(total=25600, coupon=coupon)",
        "        left = refund_order(order['id'], 12800)",
        "        again = get_order(order['id'])",
        ">       assert again['total'] == 12800, '订单 {} 退款后金额应为 12800 分，实际为 {} 分'.format(",
        "            order['id'], again['total'])",
        LAST_FAILURE,
        "tests/test_refund.py:73: AssertionError",
        "=========================== short test summary info ============================",
        f"FAILED {FAILED_TEST} - AssertionError: 订单 202510190042 退款后金额应为 12800 分",
        f"1 failed, {lines} passed in 48.{seed}s",
    ]
    return "\n".join(out + failure)
