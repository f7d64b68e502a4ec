"""Runs of the public Sifaka 0.2; a program of the environment that has it.

A line of standard input has the text, the task and the provider. The library takes no task, so a
validator says it: what that reports stands first in the prompt of the next version.
"""

import asyncio
import json
import os
import sys
from importlib import import_module
from typing import Any

import httpx


async def main(told: dict[str, str], rounds: int) -> str:
    sifaka: Any = import_module("sifaka")
    config: Any = import_module("sifaka.core.config")
    models: Any = import_module("sifaka.core.models")

    class Task(sifaka.Validator):
        name = "task"

        async def validate(self, text: str, result: object) -> Any:
            async with httpx.AsyncClient(timeout=60) as client:
                answer = await client.post(f"{told['url']}/check", json={"text": text})
            wrong = answer.json()
            passed = text != told["text"] and not wrong
            details = "; ".join([told["task"], *wrong])
            return models.ValidationResult(validator="task", passed=passed, details=details)

    llm = config.LLMConfig(
        model="model", critic_model="model", provider="ollama", timeout_seconds=300
    )
    result = await sifaka.improve(
        told["text"],
        critics=[sifaka.CriticType.SELF_REFINE],
        max_iterations=rounds,
        validators=[Task()],
        config=sifaka.Config(
            llm=llm,
            engine=config.EngineConfig(total_timeout_seconds=3600),
        ),
        storage=sifaka.MemoryStorage(),
    )
    return result.final_text


def serve(rounds: int) -> None:
    """Answer each line of standard input by one; a process of its own works on it.

    The library keeps its clients, and so would ask for one text where it asked for another.
    """
    import_module("sifaka")  # it takes seconds
    answers, sys.stdout = sys.stdout, sys.stderr  # the library prints what it measures
    for line in sys.stdin:
        if child := os.fork():
            os.waitpid(child, 0)
            continue
        told = json.loads(line)
        os.environ["OLLAMA_BASE_URL"] = told["url"] + "/v1"
        os.environ["OLLAMA_API_KEY"] = "none"
        try:
            said = {"text": asyncio.run(main(told, rounds))}
        except Exception as error:  # noqa: BLE001 - an error is an outcome too
            said = {"error": type(error).__name__}
        answers.write(json.dumps(said) + "\n")
        answers.flush()
        os._exit(0)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
