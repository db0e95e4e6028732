"""The Chinese sample: a short session that a few huge results have filled, all of which can be had again."""

# ruff: noqa: E501 - the texts of the story keep their own lines

from __future__ import annotations

from scripts.samples import orders_output as output
from scripts.samples.story import Action, Story
from scripts.samples.telling import Telling, project

START = 1_792_463_400
"""2026-10-20 02:30:00 UTC."""
SERVICE = "app/order_service.py"
ALL_TESTS = "python -m pytest -v"
STEPS = (
    "通读旧客户端、新网关和公共接口",
    "用同步外壳包装异步网关",
    "迁移 create_order、get_order",
    "迁移 cancel_order、refund_order",
    "迁移 list_orders 并保持倒序",
    "删除 legacy_client.py，更新文档",
)


def story() -> Story:
    """The story, told anew; always the same."""
    files = project("orders") | {"db/schema.sql": output.schema(), "api/openapi.yaml": output.openapi()}
    telling = Telling(files)
    for part in (_goal, _plan, _subclass, _bridge, _create, _tests, _guess, _refund, _money, _thanks, _last_request):
        part(telling)
    return Story(
        name="order-gateway-chinese",
        language="zh",
        cwd="/home/lin/orders",
        start=START,
        provider="deepseek",
        model="deepseek-chat",
        window=128_000,
        reasons=False,
        events=tuple(telling.events),
        facts=tuple(telling.facts),
    )


def _plan_at(t: Telling, doing: int) -> Action:
    states = ["done" if at < doing else "doing" if at == doing else "open" for at in range(len(STEPS))]
    return t.plan(*zip(STEPS, states, strict=True))


def _goal(t: Telling) -> None:
    goal = "把 app/ 里对 LegacyOrderClient 的调用全部换成 OrderGateway"
    t.user(
        f"你好！👋 请{goal}，对照表在 docs/migration.md。\n\n"
        "有一个硬性要求：不要修改对外暴露的公共接口，也就是 app/order_service.py 里 __all__ 列出的函数，签名、返回值和异常都不能变，"
        "金额的单位仍然是分。"
    )
    t.fact("goal", goal)
    t.fact("constraints", "不要修改对外暴露的公共接口")
    t.reply(
        "好的，我先把说明、旧客户端、新网关和公共接口读一遍。",
        t.read("docs/migration.md"),
        t.read("app/legacy_client.py"),
        t.read("app/gateway.py"),
        t.read(SERVICE),
    )
    t.reply("再看一下数据库结构和接口定义，确认金额字段的单位。", t.read("db/schema.sql"), t.read("api/openapi.yaml"))
    t.reply(
        "读完了。三个差别最重要：旧接口是同步的，新接口是异步的；金额一个是分、一个是元；列表一个倒序、一个正序。公共接口可以保持不变。"
    )


def _plan(t: Telling) -> None:
    t.user("先列个计划，然后开始吧。")
    t.reply("", _plan_at(t, 1), t.search(r"_client\.|LegacyOrderClient", "app"))
    t.reply("计划列好了，一共六步，第一步（通读）已经完成。")


def _subclass(t: Telling) -> None:
    t.user("能不能直接写一个 OrderGateway 的子类，方法名用旧的？这样调用的地方都不用改。")
    t.reply(
        "我试一下这个办法。",
        t.write("app/compat.py", COMPAT),
        t.run("python -m pytest -q tests/test_create.py", COMPAT_FAILED, 1, 3.1),
    )
    text = (
        "子类适配的办法失败了，因为 OrderGateway 的构造函数要求已经有运行中的事件循环，而公共接口是同步调用的，"
        "一创建就报 RuntimeError: no running event loop。"
    )
    t.reply(
        f"{text}改用单独的后台线程来跑事件循环，再提供同步的外壳。",
        t.remove("app/compat.py"),
    )
    t.fact(
        "failed_attempts",
        text,
        reason="OrderGateway 的构造函数要求已经有运行中的事件循环",
        instead="改用单独的后台线程来跑事件循环",
    )


def _bridge(t: Telling) -> None:
    t.user("明白了，那就用后台线程。对了，这次不要升级任何依赖包 📦")
    t.fact("constraints", "不要升级任何依赖包")
    decision = "我决定新建 app/bridge.py，用一个后台线程跑事件循环，因为这样公共接口可以保持同步，其他服务不用改。"
    t.reply(
        decision,
        t.write("app/bridge.py", BRIDGE),
        t.run(
            "python -m pytest -q tests/test_bridge.py", "tests/test_bridge.py ......\n\n6 passed in 0.42s", seconds=1.2
        ),
    )
    t.fact("decisions", decision)
    t.reply("同步外壳写好了，6 个测试通过 ✅", _plan_at(t, 2))


def _create(t: Telling) -> None:
    t.user("继续，改 create_order 和 get_order。")
    t.reply(
        "改之前先跑一遍测试作为基线，再确认一遍字段。",
        t.run(ALL_TESTS, output.tests_run(29, failing=False), seconds=48.3),
        t.read(SERVICE),
        t.read("db/schema.sql"),
    )
    t.reply(
        "",
        t.edit(
            SERVICE,
            "from app.legacy_client import LegacyError, LegacyOrderClient\n",
            "from app.bridge import call, cents, yuan\nfrom app.gateway import GatewayError, Item\n",
        ),
        t.edit(SERVICE, "_client = LegacyOrderClient()\n\n\n", "\n"),
        t.edit(
            SERVICE,
            "        order = _client.create(user_id, items, coupon)\n    except LegacyError as error:\n        release(token)\n",
            '        wanted = [Item(item["sku"], item["count"], yuan(item["price"])) for item in items]\n'
            '        order = _row(call("submit", user_id, wanted, coupon))\n'
            "    except GatewayError as error:\n        release(token)\n",
        ),
        t.edit(
            SERVICE,
            "        return _client.fetch(order_id)\n    except LegacyError as error:\n",
            '        return _row(call("get", order_id))\n    except GatewayError as error:\n',
        ),
    )
    t.reply("create_order 和 get_order 改好了，返回的金额仍然是分。", _plan_at(t, 3))


def _tests(t: Telling) -> None:
    t.user("跑一遍全部测试看看。")
    t.reply("", t.run(ALL_TESTS, output.tests_run(31), 1, 49.0))
    t.reply("1240 个通过，1 个失败：部分退款之后金额差了一分。")


def _guess(t: Telling) -> None:
    t.user("为什么会差一分？🤔")
    t.reply("我再看一下网关和接口定义里关于缓存和金额的说明。", t.read("app/gateway.py"), t.read("api/openapi.yaml"))
    guess = "可能是缓存没刷新导致的"
    t.reply(f"这个问题{guess}：网关写入后五秒内可能读到旧值，而测试在退款之后马上查询。这只是一个猜测，我还没有验证。")
    t.fact("hedged_guesses", guess)


def _refund(t: Telling) -> None:
    t.user("先别管它，把 cancel_order 和 refund_order 改完再说。")
    t.reply(
        "",
        t.edit(
            SERVICE,
            '    done = _client.cancel(order_id, reason)\n    if done:\n        release(order["stock_token"])\n    return done\n',
            '    try:\n        call("cancel", order_id, reason)\n    except GatewayError as error:\n'
            '        if error.reason == "already-shipped":\n            return False\n        raise OrderError(str(error)) from error\n'
            '    release(order["stock_token"])\n    return True\n',
        ),
        t.edit(
            SERVICE,
            "        return _client.refund(order_id, amount)\n    except LegacyError as error:\n",
            '        return _row(call("refund", order_id, yuan(amount)))\n    except GatewayError as error:\n',
        ),
        t.read(SERVICE),
        t.run(ALL_TESTS, output.tests_run(37), 1, 49.6),
    )
    t.reply("两个函数都改好了，失败的还是同一个测试。", _plan_at(t, 4))


def _money(t: Telling) -> None:
    t.user("金额换算那一步你确认过吗？")
    t.reply(
        "我单独验证一下分和元的换算，顺便看看订单表里金额字段的定义。",
        t.run("python tools/check_money.py --from 1 --to 1000000", "1000000 个金额往返换算，全部相等", seconds=3.4),
        t.read("db/schema.sql"),
    )
    finding = (
        "已确认：cents(yuan(x)) == x 对 1 到 1000000 的所有金额都成立，换算本身没有问题（tools/check_money.py 验证）。"
    )
    t.reply(finding)
    t.fact("verified_findings", finding, command="python tools/check_money.py --from 1 --to 1000000")


def _thanks(t: Telling) -> None:
    t.user("好的，谢谢！👍")
    t.fact("courtesies", "好的，谢谢！👍")
    t.reply("不客气 😊")


def _last_request(t: Telling) -> None:
    request = "请查清楚 test_partial_refund 为什么差一分，修好它，然后把计划里剩下的步骤做完。"
    t.user(request)
    t.fact("last_request", request)
    t.reply(
        "我先只跑这一个测试。",
        t.run(f"python -m pytest -q '{output.FAILED_TEST}'", LAST_RUN, 1, 2.2),
        t.read(SERVICE, 60, 30),
    )
    t.fact(
        "last_failure",
        output.LAST_FAILURE,
        test=output.FAILED_TEST,
        file="tests/test_refund.py",
        line=73,
        command=f"python -m pytest -q '{output.FAILED_TEST}'",
    )
    t.reply(
        "单独跑也失败，信息完全一样。下一步：用 fresh=True 查询一次，看差的一分是不是来自缓存；在验证之前不改代码。"
    )


COMPAT = '''\
"""OrderGateway，方法名和旧客户端一样。"""

import asyncio

from app.gateway import Item, OrderGateway
from app.transport import Transport


class CompatClient(OrderGateway):
    def __init__(self):
        super().__init__(Transport.default())

    def create(self, user_id, items, coupon=None):
        wanted = [Item(item["sku"], item["count"], item["price"] / 100) for item in items]
        return asyncio.run(self.submit(user_id, wanted, coupon))

    def fetch(self, order_id):
        return asyncio.run(self.get(order_id))
'''

COMPAT_FAILED = """\
tests/test_create.py EEEE                                                [100%]

==================================== ERRORS ====================================
____________________ ERROR collecting tests/test_create.py _____________________
app/order_service.py:14: in <module>
    _client = CompatClient()
app/compat.py:11: in __init__
    super().__init__(Transport.default())
app/gateway.py:48: in __init__
    self._loop = asyncio.get_running_loop()
E   RuntimeError: no running event loop
4 errors in 0.37s"""

BRIDGE = '''\
"""让同步的公共接口使用异步的网关：一个后台线程，一个事件循环，一个网关。"""

import asyncio
import threading
from decimal import Decimal
from typing import Any, Optional

from app.gateway import OrderGateway
from app.transport import Transport

TIMEOUT = 10.0
"""秒。"""

_lock = threading.Lock()
_loop: Optional[asyncio.AbstractEventLoop] = None
_gateway: Optional[OrderGateway] = None


def call(method: str, *values: Any) -> Any:
    """在后台的事件循环里执行网关的一个方法，并等待结果。"""
    gateway = _started()
    return asyncio.run_coroutine_threadsafe(getattr(gateway, method)(*values), _loop).result(TIMEOUT)


def yuan(amount: int) -> Decimal:
    """分换成元。"""
    return Decimal(amount) / 100


def cents(amount: Decimal) -> int:
    """元换成分，必须正好是整数。"""
    value = amount * 100
    if value != value.to_integral_value():
        raise ValueError("{} 元不是整数分".format(amount))
    return int(value)


def _started() -> OrderGateway:
    global _loop, _gateway
    with _lock:
        if _gateway is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, daemon=True).start()
            _gateway = asyncio.run_coroutine_threadsafe(_open(), _loop).result(TIMEOUT)
        return _gateway


async def _open() -> OrderGateway:
    return OrderGateway(Transport.default())
'''

LAST_RUN = f"""\
tests/test_refund.py F                                                   [100%]

=================================== FAILURES ===================================
_______________________ test_partial_refund[coupon-3] __________________________
tests/test_refund.py:73: in test_partial_refund
    assert again['total'] == 12800, '订单 {{}} 退款后金额应为 12800 分，实际为 {{}} 分'.format(
{output.LAST_FAILURE}
=========================== short test summary info ============================
FAILED {output.FAILED_TEST} - AssertionError: 订单 202510190042 退款后金额应为 12800 分
1 failed in 0.81s"""
