import signal
import threading

import pytest

from sgcl.signals import stop_request

BOTH = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def restored():
    before = {number: signal.getsignal(number) for number in BOTH}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", BOTH)
def test_a_signal_is_noted_and_the_second_is_served_as_before(number):
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with stop_request() as request:
        assert request.number is None
        signal.raise_signal(number)
        assert request.number == number
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)


def test_afterwards_all_is_as_before():
    before = [signal.getsignal(number) for number in BOTH]
    with stop_request():
        assert [signal.getsignal(number) for number in BOTH] != before
    assert [signal.getsignal(number) for number in BOTH] == before


def test_signals_that_are_ignored_stay_so():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with stop_request() as request:
        signal.raise_signal(signal.SIGINT)
        assert request.number is None
        signal.raise_signal(signal.SIGTERM)
        assert request.number == signal.SIGTERM


def test_other_threads_leave_signals_alone():
    found = []

    def work():
        with stop_request() as request:
            found.append((signal.getsignal(signal.SIGINT), request.number))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [(signal.getsignal(signal.SIGINT), None)]
