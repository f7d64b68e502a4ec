import pytest

from sifaka.classifiers import CLASSIFIERS, classifier
from sifaka.errors import ConfigurationError


def test_every_classifier_of_the_catalogue_is_called_what_it_is_listed_as() -> None:
    for name in CLASSIFIERS:
        assert classifier(name).name == name
        assert classifier(name).labels
        assert classifier(name) == classifier(name)


def test_an_unknown_classifier_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="language, sentiment") as caught:
        classifier("mood")
    assert "'mood'" in caught.value.message
